// The form that gives a key a new token and lets the old one work for a grace period, and the dialog that shows a new token.
import { NativeSelect, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { KeyResource } from "../../../../core/wire/key.ts";
import type { DialogState } from "../../../parts/dialog.tsx";
import { NamedSentence } from "../../../parts/text/game-text.tsx";
import { useAdmin } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { FormFrame, useApiForm } from "../form.tsx";
import { CopiedSecret, SecretDialog } from "../secret-dialog.tsx";

const GRACE_SECONDS = [0, 3_600, 86_400, 604_800, 2_592_000] as const;

export function RotationForm(props: {
  readonly apiKey: KeyResource;
  readonly onCancel: () => void;
  readonly onDone: (token: ShownToken) => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { key_id: keyId, label } = props.apiKey;
  const form = useApiForm("operatorKeys", {
    start: { grace_seconds: "3600" },
    toBody: (values) => ({ grace_seconds: Number(values.grace_seconds) }),
    change: (body) => admin.rotateKey(keyId, body),
    invalidates: ["keys"],
    onDone: ({ token: secret, facade_key: facadeKey, old_token_valid_until: oldUntil }) =>
      props.onDone({ label, secret, facadeKey, oldUntil }),
  });
  return (
    <FormFrame form={form} label={t("rotation.action")} onCancel={props.onCancel}>
      <Text>
        <NamedSentence names={[label]} write={(place) => t("rotation.text", { label: place })} />
      </Text>
      <NativeSelect
        {...form.field("grace_seconds")}
        data={GRACE_SECONDS.map((seconds) => ({ value: String(seconds), label: t(`rotation.at${seconds}`) }))}
        data-autofocus
      />
    </FormFrame>
  );
}

export type ShownToken = {
  readonly label: string;
  readonly secret: string;
  /** The same secret for clients of the game API. */
  readonly facadeKey: string;
  /** Until when the old token works; null when it no longer works, undefined for a new key. */
  readonly oldUntil?: number | null;
};

export function TokenDialog({ state }: { readonly state: DialogState<ShownToken> }) {
  const { t } = useTranslation("operatorKeys");
  const format = useFormat();
  const facadeTexts = { label: t("token.facadeLabel"), copy: t("token.copyFacade"), notCopied: t("token.notCopied") };
  function describeOld(until: number | null): string {
    if (until === null || until <= Date.now()) return t("token.oldGone");
    return t("token.oldUntil", { time: format.dateTime(until) });
  }
  return (
    <SecretDialog state={state} texts={t("token", { returnObjects: true })}>
      {({ label, facadeKey, oldUntil }) => (
        <>
          <Text>
            <NamedSentence names={[label]} write={(place) => t("token.for", { label: place })} />
            {oldUntil !== undefined && ` ${describeOld(oldUntil)}`}
          </Text>
          <details>
            <summary>{t("token.facade")}</summary>
            <Stack gap="xs" mt="xs" align="flex-start">
              <Text size="sm">{t("token.facadeHint")}</Text>
              <CopiedSecret secret={facadeKey} texts={facadeTexts} isSmall data-facade-key />
            </Stack>
          </details>
        </>
      )}
    </SecretDialog>
  );
}

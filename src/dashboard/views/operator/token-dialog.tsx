// Shows a new token. It is shown only once, because Gatehouse stores only its hash.
import { Button, Code, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Dialog, type DialogState } from "../../parts/dialog.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { useFormat } from "../../state/use-format.ts";
import { ShownSecret, useCopiedSecret } from "./shown-secret.tsx";

export type ShownToken = {
  readonly label: string;
  readonly token: string;
  /** The same secret for clients of the game API. */
  readonly facadeKey: string;
  /** Until when the old token works; null when it no longer works, undefined for a new key. */
  readonly oldUntil?: number | null;
};

export function TokenDialog({ state }: { readonly state: DialogState<ShownToken> }) {
  const { t } = useTranslation("operatorKeys");
  return (
    <Dialog state={state} title={t("token.title")} isSticky>
      {(shown) => <TokenBody shown={shown} onClose={state.close} />}
    </Dialog>
  );
}

function TokenBody({ shown, onClose }: { readonly shown: ShownToken; readonly onClose: () => void }) {
  const { t } = useTranslation("operatorKeys");
  const format = useFormat();
  const { oldUntil } = shown;
  const hasOldEnded = oldUntil === null || (oldUntil !== undefined && oldUntil <= Date.now());
  return (
    <Stack gap="sm">
      <Text>
        <NamedSentence names={[shown.label]} write={(label) => t("token.for", { label })} />
        {oldUntil !== undefined &&
          ` ${hasOldEnded ? t("token.oldGone") : t("token.oldUntil", { time: format.dateTime(oldUntil ?? 0) })}`}
      </Text>
      <FacadeKey facadeKey={shown.facadeKey} />
      <ShownSecret secret={shown.token} texts={t("token", { returnObjects: true })} onClose={onClose} />
    </Stack>
  );
}

function FacadeKey({ facadeKey }: { readonly facadeKey: string }) {
  const { t } = useTranslation("operatorKeys");
  const { code, isCopied, copy } = useCopiedSecret(facadeKey);
  return (
    <details>
      <summary>{t("token.facade")}</summary>
      <Stack gap="xs" mt="xs" align="flex-start">
        <Text size="sm">{t("token.facadeHint")}</Text>
        <Code
          ref={code}
          block
          className="untrusted command-text"
          data-facade-key
          aria-label={t("token.facadeLabel")}
        >
          {facadeKey}
        </Code>
        {isCopied === false && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {t("token.notCopied")}
          </Text>
        )}
        <Button variant="light" size="compact-sm" onClick={() => void copy()}>
          {isCopied ? t("token.copied") : t("token.copyFacade")}
        </Button>
      </Stack>
    </details>
  );
}

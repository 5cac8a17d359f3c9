// Shows a new token. It is shown only once, because Gatehouse stores only its hash.
import { Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Dialog, type DialogState } from "../../parts/dialog.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { useFormat } from "../../state/use-format.ts";
import { ShownSecret } from "./shown-secret.tsx";

export type ShownToken = {
  readonly label: string;
  readonly token: string;
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
      <ShownSecret secret={shown.token} texts={t("token", { returnObjects: true })} onClose={onClose} />
    </Stack>
  );
}

// Shows a token the one time that there is to see it.
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { Dialog, type DialogState } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useFormat } from "../../state/use-format.ts";

export type ShownToken = {
  readonly label: string;
  readonly token: string;
  /** Of a new token for an old key; undefined for a new key. */
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
  const { copied, copy } = useClipboard({ timeout: 3_000 });
  const { oldUntil } = shown;
  const isOldOver = oldUntil === null || (oldUntil !== undefined && oldUntil <= Date.now());
  return (
    <Stack gap="sm">
      <Text className="untrusted">
        {t("token.for", { label: shown.label })}
        {oldUntil !== undefined &&
          ` ${isOldOver ? t("token.oldGone") : t("token.oldUntil", { time: format.dateTime(oldUntil ?? 0) })}`}
      </Text>
      <Alert color="yellow" icon={<Icon name="warning" />}>
        {t("token.warning")}
      </Alert>
      <Code block className="untrusted command-text" data-token aria-label={t("token.label")}>
        {shown.token}
      </Code>
      <Group justify="flex-end">
        <Button
          variant="light"
          leftSection={<Icon name={copied ? "check" : "copy"} size={16} />}
          onClick={() => copy(shown.token)}
          data-autofocus
        >
          {t(copied ? "token.copied" : "token.copy")}
        </Button>
        <Button onClick={onClose}>{t("token.done")}</Button>
      </Group>
    </Stack>
  );
}

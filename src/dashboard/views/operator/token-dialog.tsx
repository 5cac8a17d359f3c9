// Shows a new token. It is shown only once, because Gatehouse stores only its hash.
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Dialog, type DialogState } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { copyText } from "../../state/copy-text.ts";
import { useFormat } from "../../state/use-format.ts";

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
  const [isCopied, setCopied] = useState<boolean>();
  const code = useRef<HTMLPreElement>(null);
  const { oldUntil } = shown;
  const hasOldEnded = oldUntil === null || (oldUntil !== undefined && oldUntil <= Date.now());
  async function copy() {
    const hasCopied = await copyText(shown.token);
    setCopied(hasCopied);
    if (!hasCopied && code.current) getSelection()?.selectAllChildren(code.current);
  }
  return (
    <Stack gap="sm">
      <Text>
        <NamedSentence names={[shown.label]} write={(label) => t("token.for", { label })} />
        {oldUntil !== undefined &&
          ` ${hasOldEnded ? t("token.oldGone") : t("token.oldUntil", { time: format.dateTime(oldUntil ?? 0) })}`}
      </Text>
      <Alert color="yellow" icon={<Icon name="warning" />}>
        {t("token.warning")}
      </Alert>
      <Code ref={code} block className="untrusted command-text" data-token aria-label={t("token.label")}>
        {shown.token}
      </Code>
      {isCopied === false && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {t("token.notCopied")}
        </Text>
      )}
      <Group justify="flex-end">
        <Button
          variant="light"
          leftSection={<Icon name={isCopied ? "check" : "copy"} size={16} />}
          onClick={() => void copy()}
          data-autofocus
        >
          {t(isCopied ? "token.copied" : "token.copy")}
        </Button>
        <Button onClick={onClose}>{t("token.done")}</Button>
      </Group>
    </Stack>
  );
}

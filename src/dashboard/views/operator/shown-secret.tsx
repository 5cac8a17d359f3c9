// Shows a secret that cannot be shown again, with a button that copies it.
import { Alert, Button, Code, Group, Text } from "@mantine/core";
import { useRef, useState } from "react";
import { Icon } from "../../parts/icon.tsx";
import { copyText } from "../../state/copy-text.ts";

export type SecretTexts = {
  readonly [Name in "warning" | "label" | "copy" | "copied" | "notCopied" | "done"]: string;
};

/** Copies a secret, or selects it where the browser does not let it be copied. `isCopied` is undefined before the first try. */
export function useCopiedSecret(secret: string) {
  const [isCopied, setCopied] = useState<boolean>();
  const code = useRef<HTMLPreElement>(null);
  async function copy() {
    const hasCopied = await copyText(secret);
    setCopied(hasCopied);
    if (!hasCopied && code.current) getSelection()?.selectAllChildren(code.current);
  }
  return { code, isCopied, copy };
}

export function ShownSecret(props: {
  readonly secret: string;
  readonly texts: SecretTexts;
  readonly onClose: () => void;
}) {
  const { secret, texts } = props;
  const { code, isCopied, copy } = useCopiedSecret(secret);
  return (
    <>
      <Alert color="yellow" icon={<Icon name="warning" />}>
        {texts.warning}
      </Alert>
      <Code ref={code} block className="untrusted command-text" data-token aria-label={texts.label}>
        {secret}
      </Code>
      {isCopied === false && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {texts.notCopied}
        </Text>
      )}
      <Group justify="flex-end">
        <Button
          variant="light"
          leftSection={<Icon name={isCopied ? "check" : "copy"} size={16} />}
          onClick={() => void copy()}
          data-autofocus
        >
          {isCopied ? texts.copied : texts.copy}
        </Button>
        <Button onClick={props.onClose}>{texts.done}</Button>
      </Group>
    </>
  );
}

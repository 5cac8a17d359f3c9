// Copies a text, and says so.
import { ActionIcon, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { copyText } from "../state/copy-text.ts";
import { Icon } from "./icon.tsx";

const SAID_FOR_MS = 1_500;
/** Bad news is read more slowly. */
const FAILURE_SAID_FOR_MS = 6_000;

/** `label` names what is copied, for those who do not see the place of the button. */
export function CopyButton({ value, label }: { readonly value: string; readonly label?: string }) {
  const { t } = useTranslation("shell");
  const [isCopied, setCopied] = useState<boolean>();
  const text = t(isCopied === undefined ? "copy" : isCopied ? "copied" : "notCopied");
  useEffect(() => {
    if (isCopied === undefined) return;
    const timer = setTimeout(() => setCopied(undefined), isCopied ? SAID_FOR_MS : FAILURE_SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // A title, no Tooltip: tables have hundreds of these, and a Tooltip costs more than the rest of a row.
  return (
    <>
      <ActionIcon
        size={24}
        aria-label={label === undefined ? text : `${text}: ${label}`}
        title={text}
        onClick={() => void copyText(value).then(setCopied)}
      >
        <Icon name={isCopied === undefined ? "copy" : isCopied ? "check" : "warning"} size={14} />
      </ActionIcon>
      {isCopied === false && (
        <Text component="span" size="xs" c="var(--mantine-color-error)" role="alert">
          {text}
        </Text>
      )}
    </>
  );
}

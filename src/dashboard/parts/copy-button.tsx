// A button that copies a text and shows whether that worked.
import { Text } from "@mantine/core";
import { useContext, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { copyText } from "../state/copy-text.ts";
import { BriefContext } from "./brief.ts";
import { Icon } from "./icon.tsx";

const FEEDBACK_MS = 1_500;
/** A failure is shown for longer, because it has to be read. */
const FAILURE_FEEDBACK_MS = 6_000;

/** `label` tells screen reader users what is copied. */
export function CopyButton({ value, label }: { readonly value: string; readonly label?: string }) {
  const { t } = useTranslation("shell");
  const [isCopied, setCopied] = useState<boolean>();
  const isBrief = useContext(BriefContext);
  const text = t(isCopied === undefined ? "copy" : isCopied ? "copied" : "notCopied");
  useEffect(() => {
    if (isCopied === undefined) return;
    const timer = setTimeout(() => setCopied(undefined), isCopied ? FEEDBACK_MS : FAILURE_FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  if (isBrief) return null;
  // A plain button with a title, because tables have hundreds of them, and ActionIcon and Tooltip render slowly.
  return (
    <>
      <button
        type="button"
        className="copy-button"
        aria-label={label === undefined ? text : `${text}: ${label}`}
        title={text}
        onClick={() => void copyText(value).then(setCopied)}
      >
        <Icon name={isCopied === undefined ? "copy" : isCopied ? "check" : "warning"} size={14} />
      </button>
      {isCopied === false && (
        <Text component="span" size="xs" c="var(--mantine-color-error)" role="alert">
          {text}
        </Text>
      )}
    </>
  );
}

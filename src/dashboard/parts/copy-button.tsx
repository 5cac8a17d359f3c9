// Copies a text, and says so.
import { ActionIcon } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useTranslation } from "react-i18next";
import { Icon } from "./icon.tsx";

/** `label` names what is copied, for those who do not see the place of the button. */
export function CopyButton({ value, label }: { readonly value: string; readonly label?: string }) {
  const { t } = useTranslation("shell");
  const { copied, copy } = useClipboard({ timeout: 1_500 });
  const text = copied ? t("copied") : t("copy");
  // A title, no Tooltip: tables have hundreds of these, and a Tooltip costs more than the rest of a row.
  return (
    <ActionIcon
      size="sm"
      aria-label={label === undefined ? text : `${text}: ${label}`}
      title={text}
      onClick={() => copy(value)}
    >
      <Icon name={copied ? "check" : "copy"} size={14} />
    </ActionIcon>
  );
}

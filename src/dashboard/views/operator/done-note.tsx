// Says that a change was made.
import { Alert } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";

/** What was done, for eyes and ears, until it is closed. */
export function DoneNote({ text, onClose }: { readonly text: ReactNode; readonly onClose: () => void }) {
  const { t } = useTranslation("shell");
  return (
    <div role="status" className="announcer">
      {text !== undefined && (
        <Alert
          color="teal"
          icon={<Icon name="check" />}
          withCloseButton
          closeButtonLabel={t("close")}
          onClose={onClose}
          className="untrusted"
        >
          {text}
        </Alert>
      )}
    </div>
  );
}

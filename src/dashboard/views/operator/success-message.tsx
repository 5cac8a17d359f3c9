// Shows, and tells screen readers, that a change has succeeded.
import { Alert } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";

/** Shows the text until the user closes it; nothing when the text is undefined. */
export function SuccessMessage({
  text,
  onClose,
}: {
  readonly text: ReactNode;
  readonly onClose: () => void;
}) {
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

// Shows the secret of a webhook, once: after it was created, and after a rotation.
import { Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Dialog, type DialogState } from "../../parts/dialog.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { ShownSecret } from "./shown-secret.tsx";

export type WebhookSecret = {
  readonly label: string;
  readonly secret: string;
  /** Whether an old secret goes on signing for a while. */
  readonly isRotated?: boolean;
};

export function WebhookSecretDialog({ state }: { readonly state: DialogState<WebhookSecret> }) {
  const { t } = useTranslation("operatorWebhooks");
  return (
    <Dialog state={state} title={t("secret.title")} isSticky>
      {({ label, secret, isRotated = false }) => (
        <Stack gap="sm">
          <Text>
            <NamedSentence
              names={[label]}
              write={(place) => t(isRotated ? "secret.forRotated" : "secret.for", { label: place })}
            />
          </Text>
          <ShownSecret secret={secret} texts={t("secret", { returnObjects: true })} onClose={state.close} />
        </Stack>
      )}
    </Dialog>
  );
}

// Sends a test to a webhook's receiver and shows what came back.
import { Alert, Button, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { WebhookTestResult } from "../../../core/wire/webhook.ts";
import { Icon } from "../../parts/icon.tsx";
import { useAdmin, useAdminChange } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { FormError } from "./change.tsx";
import { isSuccess } from "./webhook-state.ts";
import { useProblemWords } from "./webhook-words.ts";

export type WebhookTest = ReturnType<typeof useWebhookTest>;

export function useWebhookTest(webhookId: string) {
  const admin = useAdmin();
  const [result, setResult] = useState<WebhookTestResult>();
  const { run, isRunning, error } = useAdminChange(() => admin.testWebhook(webhookId), ["webhooks"], true);
  return {
    result: isRunning ? undefined : result,
    isRunning,
    error,
    start: async () => setResult(await run(undefined)),
    close: () => setResult(undefined),
  };
}

/** `isMain`: whether it is the first thing to do. */
export function TestButton({ test, isMain }: { readonly test: WebhookTest; readonly isMain: boolean }) {
  const { t } = useTranslation("operatorWebhooks");
  return (
    <Button
      size="xs"
      variant={isMain ? "filled" : "light"}
      onClick={() => void test.start()}
      aria-disabled={test.isRunning || undefined}
    >
      {t(test.isRunning ? "test.running" : "test.action")}
    </Button>
  );
}

export function TestResult({ test }: { readonly test: WebhookTest }) {
  const { t } = useTranslation(["operatorWebhooks", "shell"]);
  const format = useFormat();
  const { describeError } = useProblemWords();
  const { result } = test;
  const n = format.number(result?.duration_ms ?? 0);
  const isOk = result !== undefined && isSuccess(result.status);
  return (
    <>
      <FormError error={test.error} />
      <div role="status" className="announcer">
        {result && (
          <Alert
            color={isOk ? "teal" : "red"}
            icon={<Icon name={isOk ? "check" : "warning"} />}
            title={
              result.status === null
                ? t("test.failed", { n })
                : t(isOk ? "test.ok" : "test.refused", { status: result.status, n })
            }
            withCloseButton
            closeButtonLabel={t("shell:close")}
            onClose={test.close}
          >
            {result.error !== null && (
              <Text size="sm" className="untrusted">
                {describeError(result.error)}
              </Text>
            )}
          </Alert>
        )}
      </div>
    </>
  );
}

// The page of a one-time link. It signs in only when the user says so: whoever sends somebody a link must not be able to sign
// them in unnoticed, and programs that look into links must not use them up.
import { Alert, Button, Checkbox, Container, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { redeemLink } from "./api/session.ts";
import { Icon } from "./parts/icon.tsx";
import { PageSwitches } from "./parts/page-switches.tsx";
import { noteDevice } from "./state/device.ts";
import { deleteSavedCredential, describeProblem, endsSession, type SignInProblem } from "./state/session.ts";

export function LinkSignIn({ link, onDone }: { readonly link: string; readonly onDone: () => void }) {
  const { t } = useTranslation("signIn");
  const [isRemembered, setRemembered] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<SignInProblem>();
  const isGone = problem !== undefined && endsSession(problem);

  useEffect(() => {
    document.title = t("title");
  }, [t]);

  async function signIn() {
    setRunning(true);
    setProblem(undefined);
    const outcome = await redeemLink({ link, remember: isRemembered });
    setRunning(false);
    if (!outcome.ok) return setProblem(describeProblem(outcome.error));
    // The key of an earlier session in this tab would be preferred.
    deleteSavedCredential();
    noteDevice(outcome.value.device_id, isRemembered);
    onDone();
  }

  const seconds = problem && Math.max(0, Math.ceil((problem.retryAt - Date.now()) / 1000));
  return (
    <Container component="main" size={460} py={{ base: "md", sm: "10vh" }}>
      <Group justify="flex-end" mb="md">
        <PageSwitches />
      </Group>
      <Paper withBorder shadow="sm" p={{ base: "md", sm: "xl" }}>
        <Stack>
          <Group gap="sm" wrap="nowrap">
            <Icon name="gate" size={32} />
            <Title order={1} size="h2">
              {t("title")}
            </Title>
          </Group>
          {!isGone && <Text c="dimmed">{t("linkLead")}</Text>}
          {problem && (
            <Alert role="alert" color="red" title={t("failed")} icon={<Icon name="warning" />}>
              {isGone ? t("linkGone") : t(problem.text, { seconds, code: problem.code })}
            </Alert>
          )}
          {isGone ? (
            <Button onClick={onDone} fullWidth>
              {t("withKey")}
            </Button>
          ) : (
            <>
              <Checkbox
                label={t("remember")}
                description={t("rememberHint")}
                checked={isRemembered}
                onChange={(event) => setRemembered(event.currentTarget.checked)}
              />
              <Button loading={isRunning} onClick={() => void signIn()} fullWidth data-autofocus>
                {t("submit")}
              </Button>
            </>
          )}
        </Stack>
      </Paper>
    </Container>
  );
}

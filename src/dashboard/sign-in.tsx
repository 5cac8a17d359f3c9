// The sign-in form: one field for an API key or the master key. The key is sent in a header and nowhere else.
import {
  Alert,
  Button,
  Checkbox,
  Container,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "./parts/icon.tsx";
import { PageSwitches } from "./parts/page-switches.tsx";
import { endDevice } from "./state/device.ts";
import {
  deleteSavedCredential,
  isRememberable,
  isSession,
  type Session,
  type SignInProblem,
  saveCredential,
  signIn,
  signInAndRemember,
} from "./state/session.ts";
import { useNow } from "./state/use-now.ts";

export function SignIn(props: {
  /** Why the last session ended or could not start; undefined after the user has signed out. */
  readonly lastProblem: SignInProblem | undefined;
  readonly onSession: (session: Session) => void;
  /** Tries the saved key again; undefined when no key is saved. */
  readonly onRetry: (() => Promise<void>) | undefined;
}) {
  const { t } = useTranslation(["signIn", "shell"]);
  const { onRetry } = props;
  const [credential, setCredential] = useState("");
  const [shouldSave, setShouldSave] = useState(false);
  const [shouldRemember, setShouldRemember] = useState(false);
  const [isChecking, setChecking] = useState(false);
  const [isRetrying, setRetrying] = useState(false);
  const [problem, setProblem] = useState<SignInProblem>();
  const shown = problem ?? props.lastProblem;

  // The title must not show the name of the server after signing out.
  useEffect(() => {
    document.title = t("title");
  }, [t]);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setChecking(true);
    setProblem(undefined);
    const isRemembering = shouldRemember && isRememberable(credential);
    const outcome = isRemembering ? await signInAndRemember(credential) : await signIn(credential);
    setChecking(false);
    if (!isSession(outcome)) return setProblem(outcome);
    if (!isRemembering) {
      // It was remembered with another key, or could not be used: nobody would end it any more.
      endDevice();
      deleteSavedCredential();
      if (shouldSave) saveCredential(credential.trim());
    }
    props.onSession(outcome);
  }

  async function retry() {
    setRetrying(true);
    await onRetry?.();
    setRetrying(false);
  }

  return (
    <Container component="main" size={460} py={{ base: "md", sm: "10vh" }}>
      <Group justify="flex-end" mb="md">
        <PageSwitches />
      </Group>
      <Paper withBorder shadow="sm" p={{ base: "md", sm: "xl" }}>
        <form onSubmit={(event) => void submit(event)} noValidate>
          <Stack>
            <Group gap="sm" wrap="nowrap">
              <Icon name="gate" size={32} />
              <Title order={1} size="h2">
                {t("title")}
              </Title>
            </Group>
            <Text c="dimmed">{t("lead")}</Text>
            {shown && (
              <ProblemAlert
                key={shown.retryAt}
                title={t(problem || onRetry ? "failed" : "ended")}
                problem={shown}
              />
            )}
            {onRetry && !problem && (
              <Button variant="light" loading={isRetrying} onClick={() => void retry()}>
                {t("shell:tryAgain")}
              </Button>
            )}
            <PasswordInput
              label={t("field")}
              placeholder={t("placeholder")}
              value={credential}
              onChange={(event) => setCredential(event.currentTarget.value)}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              data-autofocus
              required
              error={problem !== undefined}
            />
            <Checkbox
              label={t("keep")}
              description={t("keepHint")}
              checked={shouldSave}
              onChange={(event) => setShouldSave(event.currentTarget.checked)}
            />
            <Checkbox
              label={t("remember")}
              description={t("rememberHint")}
              checked={shouldRemember}
              onChange={(event) => setShouldRemember(event.currentTarget.checked)}
            />
            <Button type="submit" loading={isChecking} fullWidth>
              {t("submit")}
            </Button>
          </Stack>
        </form>
      </Paper>
    </Container>
  );
}

function ProblemAlert({ title, problem }: { readonly title: string; readonly problem: SignInProblem }) {
  const { t } = useTranslation("signIn");
  const now = useNow();
  const seconds = Math.max(0, Math.ceil((problem.retryAt - now) / 1000));
  return (
    <Alert role="alert" color="red" title={title} icon={<Icon name="warning" />}>
      {/* A screen reader reads this once, not every second. */}
      <span aria-live="off" className="numbers">
        {t(problem.text, { seconds, code: problem.code })}
      </span>
    </Alert>
  );
}

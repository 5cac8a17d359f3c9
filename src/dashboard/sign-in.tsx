// The sign-in form: one field for either key. What is typed goes nowhere but into a header.
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
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "./parts/icon.tsx";
import { PageSwitches } from "./parts/page-switches.tsx";
import {
  forgetCredential,
  isSession,
  keepCredential,
  type Session,
  type SignInProblem,
  signIn,
} from "./state/session.ts";

export function SignIn(props: {
  /** Why the last session ended, when it was not the reader's wish. */
  readonly ended: SignInProblem | undefined;
  readonly onSession: (session: Session) => void;
}) {
  const { t } = useTranslation("signIn");
  const [credential, setCredential] = useState("");
  const [isKept, setKept] = useState(false);
  const [isChecking, setChecking] = useState(false);
  const [problem, setProblem] = useState<SignInProblem>();
  const shown = problem ?? props.ended;

  async function submit(event: FormEvent) {
    event.preventDefault();
    setChecking(true);
    setProblem(undefined);
    const outcome = await signIn(credential);
    setChecking(false);
    if (!isSession(outcome)) return setProblem(outcome);
    if (isKept) keepCredential(credential.trim());
    else forgetCredential();
    props.onSession(outcome);
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
              <Alert
                role="alert"
                color="red"
                title={t(problem ? "failed" : "ended")}
                icon={<Icon name="warning" />}
              >
                {t(shown.text, { seconds: shown.seconds, code: shown.code })}
              </Alert>
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
              checked={isKept}
              onChange={(event) => setKept(event.currentTarget.checked)}
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

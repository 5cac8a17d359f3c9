// The sign-in page: a passkey, the chat platform, or one field for an API key or the master key, as far as this Gatehouse has them.
// A key is sent in a header and nowhere else.

import { Alert, Button, PasswordInput, Stack, Text } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import type { SignInMethods } from "../../core/wire/people.ts";
import { CHAT_SIGN_IN, readSignInMethods } from "../api/session.ts";
import { Icon } from "../parts/icon.tsx";
import { LoadingState } from "../parts/states.tsx";
import { notePerson, signInPerson } from "../state/session/person.ts";
import {
  isSession,
  type Session,
  type SignInProblem,
  saveCredential,
  signIn,
  valuesOfProblem,
} from "../state/session/session.ts";
import { canUsePasskeys, usePasskey } from "../state/session/use-passkey.ts";
import { useSecond } from "../state/time/use-format.ts";
import { SignInPaper } from "./sign-in-paper.tsx";

/** The page does not wait longer for what it can offer. */
const METHODS_WAIT_MS = 2_000;
const NO_METHODS: SignInMethods = { passkeys: false, chat: false, admin: true };

type Props = {
  /** Why the last session ended or could not start; undefined after the user has signed out. */
  readonly lastProblem: SignInProblem | undefined;
  readonly onSession: (session: Session) => void;
  /** Tries again what was saved; undefined when nothing is. */
  readonly onRetry: (() => Promise<void>) | undefined;
};

export function SignIn(props: Props) {
  const methods = useMethods();
  return methods ? <SignInForm {...props} methods={methods} /> : <LoadingState />;
}

function SignInForm(props: Props & { readonly methods: SignInMethods }) {
  const { t } = useTranslation(["signIn", "shell"]);
  const { onRetry, methods } = props;
  const [credential, setCredential] = useState("");
  const [isChecking, setChecking] = useState(false);
  const [isRetrying, setRetrying] = useState(false);
  const [problem, setProblem] = useState<SignInProblem>();
  const shown = problem ?? props.lastProblem;
  const hasOthers = methods.passkeys || methods.chat;

  // The title must not show the name of the server after signing out.
  useEffect(() => {
    document.title = t("title");
  }, [t]);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setChecking(true);
    setProblem(undefined);
    const outcome = await signIn(credential);
    setChecking(false);
    if (!isSession(outcome)) return setProblem(outcome);
    saveCredential(credential.trim());
    props.onSession(outcome);
  }

  async function enter() {
    const outcome = await signInPerson();
    if (isSession(outcome)) props.onSession(outcome);
    else setProblem(outcome);
  }

  async function retry() {
    setRetrying(true);
    await onRetry?.();
    setRetrying(false);
  }

  return (
    <SignInPaper title={t("title")}>
      <Text c="dimmed">{t(hasOthers ? "leadPeople" : "lead")}</Text>
      {shown && <ProblemAlert key={shown.retryAt} title={t(problem || onRetry ? "failed" : "ended")} problem={shown} />}
      {onRetry && !problem && (
        <Button variant="light" loading={isRetrying} onClick={() => void retry()}>
          {t("shell:tryAgain")}
        </Button>
      )}
      {methods.passkeys && <PasskeyButton onProblem={setProblem} onSignedIn={enter} />}
      {methods.chat && (
        <Button
          component="a"
          href={CHAT_SIGN_IN}
          variant={methods.passkeys ? "default" : "filled"}
          size="md"
          leftSection={<Icon name="chat" size={18} />}
          ref={methods.passkeys ? undefined : focusFirst}
          // The cookie comes while another page is shown.
          onClick={notePerson}
        >
          {t("withChat")}
        </Button>
      )}
      {hasOthers && (
        <Text size="sm" c="dimmed" ta="center">
          {t("or")}
        </Text>
      )}
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <PasswordInput
            label={t("field")}
            description={t("fieldHint")}
            placeholder={t("placeholder")}
            value={credential}
            onChange={(event) => setCredential(event.currentTarget.value)}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            autoFocus={!hasOthers}
            required
            error={problem !== undefined && credential !== ""}
          />
          <Button type="submit" loading={isChecking} fullWidth variant={hasOthers ? "default" : "filled"}>
            {t("submit")}
          </Button>
        </Stack>
      </form>
    </SignInPaper>
  );
}

/** React focuses no links by itself. */
function focusFirst(link: HTMLAnchorElement | null): void {
  link?.focus();
}

function PasskeyButton(props: {
  readonly onProblem: (problem: SignInProblem | undefined) => void;
  readonly onSignedIn: () => Promise<void>;
}) {
  const { t } = useTranslation("signIn");
  const { run, isRunning } = usePasskey("signIn", props.onProblem, props.onSignedIn);
  return (
    <Button
      size="md"
      loading={isRunning}
      leftSection={<Icon name="passkey" size={18} />}
      autoFocus
      onClick={() => void run()}
    >
      {t("withPasskey")}
    </Button>
  );
}

/** What can be offered; undefined until it is known. */
function useMethods(): SignInMethods | undefined {
  const [methods, setMethods] = useState<SignInMethods>();
  useEffect(() => {
    const timer = setTimeout(() => setMethods((known) => known ?? NO_METHODS), METHODS_WAIT_MS);
    void readSignInMethods().then((outcome) => {
      const found = outcome.ok ? outcome.value : NO_METHODS;
      setMethods({ ...found, passkeys: found.passkeys && canUsePasskeys() });
    });
    return () => clearTimeout(timer);
  }, []);
  return methods;
}

function ProblemAlert({ title, problem }: { readonly title: string; readonly problem: SignInProblem }) {
  const { t } = useTranslation("signIn");
  const values = valuesOfProblem(problem, useSecond());
  return (
    <Alert role="alert" color="red" title={title} icon={<Icon name="warning" />}>
      {/* A screen reader reads this once, not every second. */}
      <span aria-live="off" className="numbers">
        {t(problem.text, values)}
      </span>
    </Alert>
  );
}

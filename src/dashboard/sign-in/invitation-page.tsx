// The page of an invitation. It signs in only when the user says so: whoever sends somebody a link must not be able to sign them in
// unnoticed, and programs that look into links must not use them up. Then it offers a passkey.
import { Alert, Button, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { readSignInMethods, redeemInvitation } from "../api/session.ts";
import { own as en } from "../locales/en/own.ts";
import { own as ru } from "../locales/ru/own.ts";
import { addTexts } from "../locales/translation.ts";
import { Icon } from "../parts/icon.tsx";
import { notePerson } from "../state/session/person.ts";
import {
  deleteSavedCredential,
  describeProblem,
  endsSession,
  type SignInProblem,
  valuesOfProblem,
} from "../state/session/session.ts";
import { canUsePasskeys, usePasskey } from "../state/session/use-passkey.ts";
import { SignInPaper } from "./sign-in-paper.tsx";

addTexts({ en: { own: en }, ru: { own: ru } });

export function InvitationPage({ secret, onDone }: { readonly secret: string; readonly onDone: () => void }) {
  const { t } = useTranslation(["own", "signIn"]);
  const [step, setStep] = useState<"ask" | "passkey">("ask");
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<SignInProblem>();
  const isGone = step === "ask" && problem !== undefined && endsSession(problem);
  const passkey = usePasskey("add", setProblem, onDone);

  useEffect(() => {
    document.title = t("invited");
  }, [t]);

  async function accept() {
    setRunning(true);
    setProblem(undefined);
    const [outcome, methods] = await Promise.all([redeemInvitation(secret, true), readSignInMethods()]);
    setRunning(false);
    if (!outcome.ok) return setProblem(describeProblem(outcome.error));
    // The key of an earlier session in this tab would be preferred.
    deleteSavedCredential();
    notePerson();
    if (methods.ok && methods.value.passkeys && canUsePasskeys()) setStep("passkey");
    else onDone();
  }

  return (
    <SignInPaper title={t(step === "ask" ? "invited" : "passkeyOffer")}>
      {!isGone && <Text c="dimmed">{t(step === "ask" ? "invitedText" : "passkeyText")}</Text>}
      {problem && (
        <Alert role="alert" color="red" title={t("signIn:failed")} icon={<Icon name="warning" />}>
          {isGone ? t("invitationGone") : t(`signIn:${problem.text}`, valuesOfProblem(problem))}
        </Alert>
      )}
      {step === "passkey" ? (
        <>
          <Button
            size="md"
            loading={passkey.isRunning}
            leftSection={<Icon name="passkey" size={18} />}
            onClick={() => void passkey.run()}
            autoFocus
          >
            {t("addPasskey")}
          </Button>
          <Button size="md" variant="default" onClick={onDone}>
            {t("onlyHere")}
          </Button>
        </>
      ) : isGone ? (
        <Button size="md" onClick={onDone} autoFocus>
          {t("toSignIn")}
        </Button>
      ) : (
        <Button size="md" loading={isRunning} onClick={() => void accept()} autoFocus>
          {t("accept")}
        </Button>
      )}
    </SignInPaper>
  );
}

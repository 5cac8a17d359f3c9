// The page: signed in or not, and what every part of it needs around itself.
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { ApiError } from "./api/request.ts";
import { Frame } from "./frame.tsx";
import { LoadingState } from "./parts/states.tsx";
import { SignIn } from "./sign-in.tsx";
import {
  describeProblem,
  endsSession,
  findCredential,
  forgetCredential,
  isSession,
  type Session,
  SessionContext,
  type SignInProblem,
  signIn,
} from "./state/session.ts";
import { resolveVariables, theme } from "./theme.ts";

export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={resolveVariables} defaultColorScheme="auto">
      <Door />
    </MantineProvider>
  );
}

/** Lets in who has a key; one that the tab has kept is tried first. */
function Door() {
  const [session, setSession] = useState<Session>();
  const [ended, setEnded] = useState<SignInProblem>();
  const [isTrying, setTrying] = useState(() => findCredential() !== undefined);

  const tryKept = useCallback(async () => {
    const kept = findCredential();
    if (kept === undefined) return;
    const outcome = await signIn(kept);
    if (isSession(outcome)) setSession(outcome);
    else if (endsSession(outcome)) forgetCredential();
    setEnded(isSession(outcome) ? undefined : outcome);
    setTrying(false);
  }, []);
  useEffect(() => void tryKept(), [tryKept]);

  const signOut = useCallback((because?: ApiError) => {
    forgetCredential();
    setSession(undefined);
    setEnded(because && describeProblem(because));
    if (!because) history.replaceState(null, "", location.pathname);
  }, []);
  const enter = useCallback((entered: Session) => {
    setEnded(undefined);
    setSession(entered);
  }, []);
  const desk = useMemo(() => session && { session, signOut }, [session, signOut]);
  // A cache for each session: nothing of one key is ever shown to the next.
  // biome-ignore lint/correctness/useExhaustiveDependencies: made anew with the session
  const client = useMemo(() => new QueryClient(), [session]);

  if (isTrying) return <LoadingState />;
  if (!desk) {
    const isKept = ended !== undefined && findCredential() !== undefined;
    return <SignIn ended={ended} onSession={enter} onRetry={isKept ? tryKept : undefined} />;
  }
  return (
    <SessionContext value={desk}>
      <QueryClientProvider client={client}>
        <Frame />
      </QueryClientProvider>
    </SessionContext>
  );
}

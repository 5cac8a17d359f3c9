// The root of the page: the sign-in form or the signed-in frame, inside the providers that every component needs.
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { ApiError } from "./api/request.ts";
import { Frame } from "./frame.tsx";
import { LinkGate } from "./link-gate.tsx";
import { LoadingState } from "./parts/states.tsx";
import { SignIn } from "./sign-in.tsx";
import { endDevice } from "./state/device.ts";
import {
  deleteSavedCredential,
  describeProblem,
  endsSession,
  findSavedCredential,
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
      <LinkGate>
        <SessionGate />
      </LinkGate>
    </MantineProvider>
  );
}

/** Shows the sign-in form until there is a session. A credential that was saved for the tab is tried first. */
function SessionGate() {
  const [session, setSession] = useState<Session>();
  const [problem, setProblem] = useState<SignInProblem>();
  const [isTrying, setTrying] = useState(() => findSavedCredential() !== undefined);

  const trySavedCredential = useCallback(async () => {
    const saved = findSavedCredential();
    if (saved === undefined) return;
    const outcome = await signIn(saved);
    if (isSession(outcome)) setSession(outcome);
    else if (endsSession(outcome)) deleteSavedCredential();
    setProblem(isSession(outcome) ? undefined : outcome);
    setTrying(false);
  }, []);
  useEffect(() => void trySavedCredential(), [trySavedCredential]);

  const isDevice = session?.kind === "caller" && session.isDevice;
  const signOut = useCallback(
    (because?: ApiError) => {
      if (!because) endDevice();
      deleteSavedCredential();
      setSession(undefined);
      setProblem(because && describeProblem(because, isDevice));
      if (!because) history.replaceState(null, "", location.pathname);
    },
    [isDevice],
  );
  const enter = useCallback((entered: Session) => {
    setProblem(undefined);
    setSession(entered);
  }, []);
  const context = useMemo(() => session && { session, signOut }, [session, signOut]);
  // Each session has its own cache, so that nothing read with one key is shown to the next one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each session needs a new client
  const client = useMemo(() => new QueryClient(), [session]);

  if (isTrying) return <LoadingState />;
  if (!context) {
    const mayRetry = problem !== undefined && findSavedCredential() !== undefined;
    return (
      <SignIn lastProblem={problem} onSession={enter} onRetry={mayRetry ? trySavedCredential : undefined} />
    );
  }
  return (
    <SessionContext value={context}>
      <QueryClientProvider client={client}>
        <Frame />
      </QueryClientProvider>
    </SessionContext>
  );
}

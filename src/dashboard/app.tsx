// The root of the page: the sign-in form or the signed-in frame, inside the providers that every component needs.
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ApiError } from "./api/request.ts";
import { Frame } from "./frame.tsx";
import { LinkGate } from "./link-gate.tsx";
import { LoadingState } from "./parts/states.tsx";
import { SignIn } from "./sign-in.tsx";
import { endDevice, forgetDevice, SAVED_DEVICE } from "./state/device.ts";
import {
  addKey,
  EMPTY_RING,
  findShown,
  holdProblem,
  holdSession,
  type KeyRing,
  listKeysToSave,
  openRing,
  refuseKey,
  removeKey,
  replaceKey,
  showKey,
} from "./state/key-ring.ts";
import { hrefOf, readRoute } from "./state/route.ts";
import { listSavedKeys, saveKeys } from "./state/saved-keys.ts";
import {
  deleteSavedCredential,
  describeProblem,
  endsSession,
  isSession,
  type Session,
  SessionContext,
  type SignInProblem,
  signInSaved,
} from "./state/session.ts";
import { KeyRingContext, type KeyRingValue } from "./state/use-key-ring.ts";
import { resolveVariables, theme } from "./theme.ts";
import { listViews } from "./view-list.ts";

export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={resolveVariables} defaultColorScheme="auto">
      <LinkGate>
        <SessionGate />
      </LinkGate>
    </MantineProvider>
  );
}

/**
 * Shows the sign-in form until there is a session. Keys that were saved for the tab are tried first. A user with several keys
 * has a session for each, and sees one of them.
 */
function SessionGate() {
  const [ring, setRing] = useState(EMPTY_RING);
  const [problem, setProblem] = useState<SignInProblem>();
  const [isTrying, setTrying] = useState(() => listSavedKeys().length > 0);
  const shown = findShown(ring);
  const session = shown?.session;

  /** Every change goes through this. Callbacks see the latest ring without being made anew, which would restart the stream. */
  const latest = useRef(EMPTY_RING);
  const change = useCallback((changed: KeyRing) => {
    latest.current = changed;
    setRing(changed);
  }, []);

  const trySavedCredential = useCallback(async () => {
    const saved = listSavedKeys();
    if (saved.length === 0) return;
    const outcomes = await Promise.all(saved.map(signInSaved));
    const opened = openRing(outcomes.map((outcome, index) => hold(outcome, saved[index] ?? "")));
    const problems = opened.keys.flatMap(({ problem: found }) => found ?? []);
    if (findShown(opened)) change(opened);
    else if (problems.every(endsSession)) {
      deleteSavedCredential();
      if (saved.includes(SAVED_DEVICE)) forgetDevice();
    }
    setProblem(findShown(opened) ? undefined : problems[0]);
    setTrying(false);
  }, [change]);
  useEffect(() => void trySavedCredential(), [trySavedCredential]);

  const signOut = useCallback(
    (because?: SignInProblem) => {
      if (!because) endDevice();
      else for (const { session: ended } of latest.current.keys) forgetDevice(deviceOf(ended) ?? "");
      deleteSavedCredential();
      change(EMPTY_RING);
      setProblem(because);
      if (!because) history.replaceState(null, "", location.pathname);
    },
    [change],
  );
  const enter = useCallback(
    (entered: Session) => {
      setProblem(undefined);
      change(openRing([holdSession(entered, listSavedKeys()[0])]));
    },
    [change],
  );

  const actions = useMemo(() => createRingActions(latest, change, signOut), [change, signOut]);
  const ringValue = useMemo(() => ({ ring, ...actions }), [ring, actions]);
  const shownId = shown?.id;
  const context = useMemo(() => {
    if (!session || shownId === undefined) return undefined;
    return {
      session,
      signOut: (because?: ApiError) => (because ? actions.refuse(shownId, because) : signOut()),
    };
  }, [session, shownId, actions, signOut]);
  // Each session has its own cache, so that nothing read with one key is shown to the next one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each session needs a new client
  const client = useMemo(() => new QueryClient(), [session]);

  if (isTrying) return <LoadingState />;
  if (!context) {
    const mayRetry = problem !== undefined && listSavedKeys().length > 0;
    return (
      <SignIn lastProblem={problem} onSession={enter} onRetry={mayRetry ? trySavedCredential : undefined} />
    );
  }
  return (
    <KeyRingContext value={ringValue}>
      <SessionContext value={context}>
        <QueryClientProvider client={client}>
          <Frame />
        </QueryClientProvider>
      </SessionContext>
    </KeyRingContext>
  );
}

function deviceOf(session: Session | undefined): string | undefined {
  return session?.kind === "caller" ? session.deviceId : undefined;
}

function hold(outcome: Session | SignInProblem, saved: string) {
  return isSession(outcome) ? holdSession(outcome, saved) : holdProblem(outcome, saved);
}

/** What the user and the overview do with the keys. */
function createRingActions(
  latest: RefObject<KeyRing>,
  change: (ring: KeyRing) => void,
  signOut: (because?: SignInProblem) => void,
): Omit<KeyRingValue, "ring"> {
  const keep = (ring: KeyRing) => {
    saveKeys(listKeysToSave(ring));
    change(ring);
  };
  return {
    show(id) {
      const shown = showKey(latest.current, id);
      keep(shown);
      goOn(shown);
    },
    add(session, saved) {
      const added = addKey(latest.current, holdSession(session, saved));
      keep(added);
      goOn(added);
    },
    remove(id) {
      const wasShown = id === latest.current.shownId;
      const isDevice = latest.current.keys.some((held) => held.id === id && held.saved === SAVED_DEVICE);
      const left = removeKey(latest.current, id);
      if (!findShown(left)) return signOut();
      if (isDevice) endDevice();
      keep(left);
      // With one server there is no overview.
      if (readRoute() === "overview" ? left.keys.length === 1 : wasShown) goOn(left);
    },
    refuse(id, error) {
      const wasShown = id === latest.current.shownId;
      const session = latest.current.keys.find((held) => held.id === id)?.session;
      const problem = describeProblem(error, deviceOf(session) !== undefined);
      const left = refuseKey(latest.current, id, problem);
      if (!findShown(left)) return signOut(problem);
      keep(left);
      // There the user sees which key was refused, and why.
      if (wasShown) location.hash = hrefOf("overview");
    },
    async retry(id) {
      const saved = latest.current.keys.find((held) => held.id === id)?.saved;
      if (saved === undefined) return;
      const outcome = await signInSaved(saved);
      change(replaceKey(latest.current, id, hold(outcome, saved)));
    },
  };
}

/** Goes on with the same view of the shown server if its key has it, without the id of a player. */
function goOn(ring: KeyRing): void {
  const session = findShown(ring)?.session;
  const name = readRoute().split("/")[0];
  const views = session ? listViews(session) : [];
  location.hash = hrefOf((views.find((view) => view.name === name) ?? views[0])?.name ?? "");
}

// The root of the page: the sign-in form or the signed-in frame, inside the providers that every component needs.
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ApiError } from "./api/request.ts";
import { FrameBody } from "./frame/frame.tsx";
import { loadOperatorFrame, PersonFrame } from "./frame/person-frame.tsx";
import { listViews } from "./frame/view-list.ts";
import { LazyView } from "./parts/lazy-view.tsx";
import { LoadingState } from "./parts/states.tsx";
import { InvitationGate } from "./sign-in/invitation-gate.tsx";
import { SignIn } from "./sign-in/sign-in.tsx";
import { LiveStreamProvider } from "./state/ledger/use-live-stream.tsx";
import { hrefOf, readRoute, readRouteParameter } from "./state/route.ts";
import { ServerStateProvider, useServerState } from "./state/server/use-server-state.tsx";
import {
  addKey,
  EMPTY_RING,
  findShown,
  holdProblem,
  holdSession,
  type KeyRing,
  KeyRingContext,
  type KeyRingValue,
  listKeysToSave,
  listSavedKeys,
  openRing,
  refuseKey,
  removeKey,
  replaceKey,
  saveKeys,
  showKey,
  useKeyRing,
} from "./state/session/key-ring.ts";
import { endPerson, forgetPerson, isPersonNoted, signInPerson } from "./state/session/person.ts";
import {
  deleteSavedCredential,
  describeProblem,
  endsSession,
  isSession,
  type Person,
  type Session,
  SessionContext,
  type SignInProblem,
  signIn,
  useSession,
} from "./state/session/session.ts";
import { resolveVariables, theme } from "./theme.ts";

export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={resolveVariables} defaultColorScheme="auto">
      <InvitationGate>
        <SessionGate />
      </InvitationGate>
    </MantineProvider>
  );
}

/**
 * Shows the sign-in form until there is a session. The keys of this tab are tried first, then the person whom this browser
 * remembers. A user with several keys has a session for each, and sees one of them.
 */
function SessionGate() {
  const [ring, setRing] = useState(EMPTY_RING);
  const [problem, setProblem] = useState(takeChatProblem);
  const [isTrying, setTrying] = useState(canSignIn);
  const shown = findShown(ring);
  const session = shown?.session;

  /** Every change goes through this. Callbacks see the latest ring without being made anew, which would restart the stream. */
  const latest = useRef(EMPTY_RING);
  const change = useCallback((changed: KeyRing) => {
    latest.current = changed;
    setRing(changed);
  }, []);

  const trySavedCredential = useCallback(async () => {
    if (!canSignIn()) return;
    const saved = listSavedKeys();
    const outcomes = await Promise.all(saved.length > 0 ? saved.map(signIn) : [signInPerson()]);
    const opened = openRing(outcomes.map((outcome, index) => hold(outcome, saved[index])));
    const problems = opened.keys.flatMap(({ problem: found }) => found ?? []);
    if (findShown(opened)) change(opened);
    else if (problems.every(endsSession)) {
      if (saved.length === 0) forgetPerson();
      deleteSavedCredential();
    }
    setProblem(findShown(opened) ? undefined : problems[0]);
    setTrying(false);
  }, [change]);
  useEffect(() => void trySavedCredential(), [trySavedCredential]);

  const signOut = useCallback(
    (because?: SignInProblem) => {
      // Whoever leaves a key of this tab stays signed in as a person elsewhere.
      if (latest.current.keys.some(({ session: ended }) => personOf(ended))) because ? forgetPerson() : endPerson();
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
    return { session, signOut: (because?: ApiError) => (because ? actions.refuse(shownId, because) : signOut()) };
  }, [session, shownId, actions, signOut]);
  // Each session has its own cache, so that nothing read with one key is shown to the next one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each session needs a new client
  const client = useMemo(() => new QueryClient(), [session]);

  if (isTrying) return <LoadingState />;
  if (!context) {
    const mayRetry = problem !== undefined && canSignIn();
    return <SignIn lastProblem={problem} onSession={enter} onRetry={mayRetry ? trySavedCredential : undefined} />;
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

/** The frame of an API key, of a person, or of the master key, which is loaded when it is first shown. */
function Frame() {
  const { session } = useSession();
  const { ring } = useKeyRing();
  const isFirst = useRef(true);
  if (session.kind !== "admin") {
    return (
      // Nothing of one server may be left when another one is shown.
      <LiveStreamProvider key={ring.shownId}>
        <ServerStateProvider>
          <CallerFrame isFirst={isFirst} />
        </ServerStateProvider>
      </LiveStreamProvider>
    );
  }
  return session.person ? <PersonFrame /> : <LazyView load={loadOperatorFrame} />;
}

function CallerFrame({ isFirst }: { readonly isFirst: RefObject<boolean> }) {
  const name = useServerState().state?.Name;
  return <FrameBody name={name} isFirst={isFirst} />;
}

const CHAT_PROBLEMS = {
  cancelled: "chatCancelled",
  expired: "chatExpired",
  failed: "chatFailed",
  unknown: "chatUnknown",
} as const;

/** Why the chat platform did not sign in, which Gatehouse says in the address; it is taken out of there. */
function takeChatProblem(): SignInProblem | undefined {
  const code = readRouteParameter("problem");
  if (code === undefined || !Object.hasOwn(CHAT_PROBLEMS, code)) return undefined;
  forgetPerson();
  history.replaceState(null, "", location.pathname);
  return { text: CHAT_PROBLEMS[code as keyof typeof CHAT_PROBLEMS], retryAt: 0, code: 0 };
}

/** Whether there is something to sign in with, without asking the user. */
function canSignIn(): boolean {
  return listSavedKeys().length > 0 || isPersonNoted();
}

function personOf(session: Session | undefined): Person | undefined {
  return session?.kind === "admin" ? session.person : undefined;
}

function hold(outcome: Session | SignInProblem, saved: string | undefined) {
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
      const left = removeKey(latest.current, id);
      if (!findShown(left)) return signOut();
      keep(left);
      // With one server there is no overview.
      if (readRoute() === "overview" ? left.keys.length === 1 : wasShown) goOn(left);
    },
    refuse(id, error) {
      const wasShown = id === latest.current.shownId;
      const person = personOf(latest.current.keys.find((held) => held.id === id)?.session);
      if (person) return void endIfGone(person, signOut);
      const problem = describeProblem(error);
      const left = refuseKey(latest.current, id, problem);
      if (!findShown(left)) return signOut(problem);
      keep(left);
      // There the user sees which key was refused, and why.
      if (wasShown) location.hash = hrefOf("overview");
    },
    async retry(id) {
      const saved = latest.current.keys.find((held) => held.id === id)?.saved;
      if (saved === undefined) return;
      const outcome = await signIn(saved);
      change(replaceKey(latest.current, id, hold(outcome, saved)));
    },
  };
}

/** One token may be refused because a role has changed; the person stays signed in then. */
async function endIfGone(person: Person, signOut: (because: SignInProblem) => void): Promise<void> {
  const error = await person.refresh();
  if (error && endsSession(error)) signOut(describeProblem(error, true));
}

/** Goes on with the same view of the shown server if its key has it, without the id of a player. */
function goOn(ring: KeyRing): void {
  const session = findShown(ring)?.session;
  const name = readRoute().split("/")[0];
  const views = session ? listViews(session) : [];
  location.hash = hrefOf((views.find((view) => view.name === name) ?? views[0])?.name ?? "");
}

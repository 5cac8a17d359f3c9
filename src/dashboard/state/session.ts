// Who is signed in: the key, in memory or for the life of the tab, and the API behind it. Signing in asks Gatehouse.
import { createContext, useContext } from "react";
import { ERRORS } from "../../core/errors.ts";
import type { Section } from "../../core/sections.ts";
import { type AdminApi, createAdminApi } from "../api/admin.ts";
import { type CallerApi, createCallerApi } from "../api/caller.ts";
import { Pace } from "../api/pace.ts";
import { type ApiError, createAsk, UNREACHABLE } from "../api/request.ts";

export type CallerSession = {
  readonly kind: "caller";
  readonly api: CallerApi;
  readonly pace: Pace;
  /** Whether the key may send commands at all; each one is judged by Gatehouse. */
  readonly mayCommand: boolean;
  /** What the key may read, as of signing in. */
  readonly sections: readonly Section[];
};

export type OperatorSession = { readonly kind: "operator"; readonly api: AdminApi };

export type Session = CallerSession | OperatorSession;

/** Why signing in failed: a key of the `signIn` texts, with what the text mentions. */
export type SignInProblem = {
  readonly text:
    | "empty"
    | "missing"
    | "invalidKey"
    | "wrongMaster"
    | "tooManyTries"
    | "limited"
    | "blocked"
    | "suspended"
    | "version"
    | "unreachable"
    | "unexpected";
  /** When it may be worth trying again. */
  readonly retryAt: number;
  readonly code: number;
};

/** For this tab only, and gone with it. */
const KEPT_AS = "gatehouse.key";
const TOKEN_PREFIX = "gth_";

export async function signIn(credential: string): Promise<Session | SignInProblem> {
  const key = credential.trim();
  if (key === "") return { text: "empty", retryAt: 0, code: 0 };
  // A header holds visible ASCII only; with anything else in it, this is no key of ours.
  if (!/^[\x21-\x7e]+$/.test(key)) return { text: "wrongMaster", retryAt: 0, code: 0 };
  return key.startsWith(TOKEN_PREFIX) ? signInCaller(key) : signInOperator(key);
}

export function isSession(outcome: Session | SignInProblem): outcome is Session {
  return "kind" in outcome;
}

async function signInCaller(key: string): Promise<Session | SignInProblem> {
  const pace = new Pace();
  const api = createCallerApi(createAsk(key, (outcome) => pace.note(outcome)));
  // The key is asked about, not the server: a game API that cannot answer is no fault of the key.
  const answer = await api.readKey();
  if (!answer.ok) return describeProblem(answer.error);
  const { sections, commands } = answer.value;
  return { kind: "caller", api, pace, sections, mayCommand: commands.length > 0 };
}

async function signInOperator(key: string): Promise<Session | SignInProblem> {
  const api = createAdminApi(createAsk(key));
  const answer = await api.listServers({ limit: 1 });
  return answer.ok ? { kind: "operator", api } : describeProblem(answer.error);
}

const PROBLEMS: Readonly<Record<number, SignInProblem["text"]>> = {
  [UNREACHABLE]: "unreachable",
  [ERRORS.missingToken.code]: "missing",
  [ERRORS.invalidToken.code]: "invalidKey",
  [ERRORS.invalidMasterKey.code]: "wrongMaster",
  [ERRORS.tooManyAttempts.code]: "tooManyTries",
  [ERRORS.rateLimited.code]: "limited",
  [ERRORS.spamBlocked.code]: "blocked",
  [ERRORS.forbidden.code]: "suspended",
  [ERRORS.versionForbidden.code]: "version",
};

export function describeProblem({ code, retryAfter }: ApiError): SignInProblem {
  return { text: PROBLEMS[code] ?? "unexpected", retryAt: Date.now() + (retryAfter ?? 60) * 1000, code };
}

/** Whether the key has stopped working: revoked, expired, or another master key since. */
export function endsSession({ code }: Pick<ApiError, "code">): boolean {
  return (
    code === ERRORS.missingToken.code ||
    code === ERRORS.invalidToken.code ||
    code === ERRORS.invalidMasterKey.code
  );
}

export function keepCredential(credential: string): void {
  withTabStorage((storage) => storage.setItem(KEPT_AS, credential));
}

export function findCredential(): string | undefined {
  return withTabStorage((storage) => storage.getItem(KEPT_AS)) ?? undefined;
}

export function forgetCredential(): void {
  withTabStorage((storage) => storage.removeItem(KEPT_AS));
}

function withTabStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    // Forbidden by the browser: the key stays in memory.
    return undefined;
  }
}

export type SessionDesk = {
  readonly session: Session;
  /** With an error when it was not the reader's wish. */
  readonly signOut: (because?: ApiError) => void;
};

export const SessionContext = createContext<SessionDesk | undefined>(undefined);

export function useSession(): SessionDesk {
  const desk = useContext(SessionContext);
  if (!desk) throw new Error("there is no session around this component");
  return desk;
}

export function useCallerSession(): CallerSession {
  const { session } = useSession();
  if (session.kind !== "caller") throw new Error("this view is for holders of an API key");
  return session;
}

export function useOperatorSession(): OperatorSession {
  const { session } = useSession();
  if (session.kind !== "operator") throw new Error("this view is for operators");
  return session;
}

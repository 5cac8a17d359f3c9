// The session: who is signed in, and the API client with their key. A key is kept until the tab is closed, and no longer. A
// person has no key here, only short-lived tokens.
import { createContext, useContext } from "react";
import { ERRORS } from "../../../core/errors.ts";
import type { Ability, HideableField } from "../../../core/keys/rights.ts";
import { SECTIONS, type Section } from "../../../core/sections.ts";
import type { OwnKeyResource } from "../../../core/wire/key.ts";
import type { MeResource } from "../../../core/wire/people.ts";
import { type AdminApi, createAdminApi, eventStreamOf } from "../../api/admin.ts";
import {
  type CallerApi,
  createCallerApi,
  EVENT_STREAM,
  type HistoryReader,
  type LedgerReader,
  type ServerReader,
} from "../../api/caller.ts";
import { Pace } from "../../api/pace.ts";
import {
  type ApiError,
  type Credential,
  createApiCall,
  createStreamCall,
  type OpenStream,
  UNREACHABLE,
} from "../../api/request.ts";
import type { OwnApi } from "../../api/session.ts";
import { LedgerAccess } from "../ledger/ledger-access.ts";

/** Somebody who is signed in with a name of their own. */
export type Person = {
  readonly own: OwnApi;
  readonly read: () => MeResource;
  readonly subscribe: (listener: () => void) => () => void;
  /** The session for one of their servers, made once for each. */
  readonly openServer: (serverId: string) => Promise<CallerSession | SignInProblem>;
  /** The next `openServer` makes a new session, with the rights of that time. */
  readonly forgetServer: (serverId: string) => void;
  /** Reads again who they are; why it could not be read. */
  readonly refresh: () => Promise<ApiError | undefined>;
};

export type CallerSession = {
  readonly kind: "caller";
  readonly serverId: string;
  readonly api: CallerApi;
  readonly openStream: OpenStream;
  /** Undefined when a key was entered. */
  readonly person: Person | undefined;
  readonly pace: Pace;
  readonly ledger: LedgerAccess;
  /** What the key may do besides, when the user signed in. */
  readonly may: ReadonlySet<Ability>;
  /** What the key does not get. */
  readonly hide: readonly HideableField[];
  /** Whether the key may send any command; Gatehouse checks each one. */
  readonly mayCommand: boolean;
  /** The commands that the key could send when the user signed in; "*" is all. */
  readonly commands: readonly string[];
  /** The sections that the key could read when the user signed in. */
  readonly sections: readonly Section[];
  readonly ownKey: OwnKeyResource;
};

/** Outside of any server: the holder of the master key, or a person, who has there what their roles allow. */
export type AdminSession = {
  readonly kind: "admin";
  readonly api: AdminApi;
  /** Undefined for the holder of the master key. */
  readonly person: Person | undefined;
  /** Opens streams of one server; the pace sees every outcome. */
  readonly createStreamOf: (serverId: string, pace: Pace) => OpenStream;
};

/** The holder of the master key, who looks into a server without a key of it. */
export type ViewerSession = {
  readonly kind: "viewer";
  readonly serverId: string;
  readonly admin: AdminSession;
  readonly api: ServerReader & HistoryReader;
  readonly openStream: OpenStream;
  readonly pace: Pace;
  readonly ledger: LedgerAccess;
  readonly sections: readonly Section[];
};

export type Session = CallerSession | AdminSession | ViewerSession;

/** Why signing in failed: the name of a `signIn` text and the values in it. */
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
    | "notHere"
    | "otherAddress"
    | "sessionEnded"
    | "noRole"
    | "chatCancelled"
    | "chatExpired"
    | "chatFailed"
    | "chatUnknown"
    | "passkeyUnknown"
    | "passkeyCancelled"
    | "passkeyThere"
    | "passkeyFailed"
    | "passkeyNotHere"
    | "passkeyElsewhere"
    | "unreachable"
    | "unexpected";
  /** When to try again. */
  readonly retryAt: number;
  readonly code: number;
  /** Where passkeys work. */
  readonly address?: string;
};

/** The key of sessionStorage, which is deleted with the tab. */
const STORAGE_KEY = "gatehouse.key";
const TOKEN_PREFIX = "gth_";

export async function signIn(credential: string): Promise<Session | SignInProblem> {
  const key = credential.trim();
  const problem = findKeyProblem(key);
  if (problem) return problem;
  return key.startsWith(TOKEN_PREFIX) ? signInCaller(key) : signInOperator(key);
}

/** Why a text cannot be sent as a key; undefined when Gatehouse has to judge it. */
function findKeyProblem(key: string): SignInProblem | undefined {
  // A header can only hold visible ASCII, so other text cannot be a key.
  if (/^[\x21-\x7e]+$/.test(key)) return undefined;
  const text = key === "" ? "empty" : key.startsWith(TOKEN_PREFIX) ? "invalidKey" : "wrongMaster";
  return { text, retryAt: 0, code: 0 };
}

export function isSession(outcome: Session | SignInProblem): outcome is Session {
  return "kind" in outcome;
}

export async function signInCaller(key: Credential, person?: Person): Promise<CallerSession | SignInProblem> {
  const pace = new Pace();
  const api = createCallerApi(createApiCall(key, (outcome) => pace.observe(outcome)));
  // Reads the key and not the server, so that a failing game API does not fail the sign-in.
  const answer = await api.readKey();
  if (!answer.ok) return describeProblem(answer.error, person !== undefined);
  const { value: ownKey } = answer;
  const { server_id: serverId, sections, commands, may, hide } = ownKey;
  const ledger = new LedgerAccess(api, pace);
  const openStream = createStreamCall(key, EVENT_STREAM, (outcome) => pace.observeStream(outcome));
  const mayCommand = commands.length > 0;
  const rights = { sections, hide, mayCommand, commands, may: new Set(may), ownKey };
  return { kind: "caller", serverId, api, openStream, person, pace, ledger, ...rights };
}

async function signInOperator(key: string): Promise<Session | SignInProblem> {
  const session = openAdminSession(key);
  const answer = await session.api.listServers({ limit: 1 });
  if (answer.ok) return session;
  // Without the database nothing can be listed. The metrics still tell a right master key from a wrong one.
  const isAway = answer.error.code === ERRORS.unavailable.code;
  return isAway && (await session.api.readMetrics()).ok ? session : describeProblem(answer.error);
}

export function openAdminSession(key: Credential, person?: Person): AdminSession {
  return {
    kind: "admin",
    api: createAdminApi(createApiCall(key)),
    person,
    createStreamOf: (serverId, pace) =>
      createStreamCall(key, eventStreamOf(serverId), (outcome) => pace.observeStream(outcome)),
  };
}

export function openViewerSession(admin: AdminSession, serverId: string): ViewerSession {
  const { api } = admin;
  const pace = new Pace();
  const reader: ServerReader & LedgerReader & HistoryReader = {
    async readServer(...request) {
      const outcome = await api.readServerInfo(serverId, ...request);
      pace.observe(outcome);
      return outcome;
    },
    readMap: (...request) => api.readServerMap(serverId, ...request),
    readMapImage: (...request) => api.readMapImage(serverId, ...request),
    async readEvents(...request) {
      const outcome = await api.readServerEvents(serverId, ...request);
      pace.observe(outcome);
      return outcome;
    },
    readHistory: (question, query, signal) => api.readServerHistory(serverId, question, query, signal),
    readPresent: (at, signal) => api.readServerPresent(serverId, at, signal),
  };
  return {
    kind: "viewer",
    serverId,
    admin,
    api: reader,
    openStream: admin.createStreamOf(serverId, pace),
    pace,
    ledger: new LedgerAccess(reader, pace),
    sections: SECTIONS,
  };
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
  // Operators have a listener of their own; this one does not know the admin API.
  [ERRORS.notFound.code]: "notHere",
};

/** `isPerson`: the session of a person was refused, not a key that was entered. */
export function describeProblem(error: ApiError, isPerson = false): SignInProblem {
  const { code, retryAfter } = error;
  return { text: findProblemText(error, isPerson), retryAt: Date.now() + (retryAfter ?? 60) * 1000, code };
}

/** The values of the text of a problem. */
export function valuesOfProblem({ retryAt, code, address }: SignInProblem, now = Date.now()) {
  return { seconds: Math.max(0, Math.ceil((retryAt - now) / 1000)), code, address };
}

function findProblemText({ code, details }: ApiError, isPerson: boolean): SignInProblem["text"] {
  if (code === ERRORS.forbidden.code && details?.reason === "origin") return "otherAddress";
  if (code === ERRORS.forbidden.code && details?.reason === "role") return "noRole";
  // No key was entered, so none can be mistyped.
  if (isPerson && endsSession({ code })) return "sessionEnded";
  return PROBLEMS[code] ?? "unexpected";
}

/** Whether the key no longer works: it was revoked, has expired, or the master key was changed. */
export function endsSession({ code }: Pick<ApiError, "code">): boolean {
  return (
    code === ERRORS.missingToken.code || code === ERRORS.invalidToken.code || code === ERRORS.invalidMasterKey.code
  );
}

export function saveCredential(credential: string): void {
  withTabStorage((storage) => storage.setItem(STORAGE_KEY, credential));
}

export function findSavedCredential(): string | undefined {
  return withTabStorage((storage) => storage.getItem(STORAGE_KEY)) ?? undefined;
}

export function deleteSavedCredential(): void {
  withTabStorage((storage) => storage.removeItem(STORAGE_KEY));
}

function withTabStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage);
  } catch {
    // The browser forbids storage; the key stays in memory.
    return undefined;
  }
}

export type SessionContextValue = {
  readonly session: Session;
  /** Takes the error that ended the session; none when the user signs out. */
  readonly signOut: (because?: ApiError) => void;
};

export const SessionContext = createContext<SessionContextValue | undefined>(undefined);

export function useSession(): SessionContextValue {
  const context = useContext(SessionContext);
  if (!context) throw new Error("there is no SessionContext around this component");
  return context;
}

export function useCallerSession(): CallerSession {
  const { session } = useSession();
  if (session.kind !== "caller") throw new Error("this view is for holders of an API key");
  return session;
}

/** For views that read one server: with its key, as a person, or with the master key. */
export function useServerSession(): CallerSession | ViewerSession {
  const { session } = useSession();
  if (session.kind === "admin") throw new Error("this view is for one server");
  return session;
}

export function useAdminSession(): AdminSession {
  const { session } = useSession();
  if (session.kind !== "admin") throw new Error("this view is outside of any server");
  return session;
}

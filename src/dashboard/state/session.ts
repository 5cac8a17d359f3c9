// The session: who is signed in, and the API client with their key. The key is in memory only, or saved until the tab is
// closed. A remembered device has no key here, only short-lived tokens.
import { createContext, useContext } from "react";
import { ERRORS } from "../../core/errors.ts";
import { SECTIONS, type Section } from "../../core/sections.ts";
import type { OwnKeyResource } from "../../core/wire/own-key.ts";
import type { SessionResource } from "../../core/wire/session.ts";
import { type AdminApi, createAdminApi, eventStreamOf } from "../api/admin.ts";
import {
  type CallerApi,
  createCallerApi,
  EVENT_STREAM,
  type HistoryReader,
  type LedgerReader,
  type ServerReader,
} from "../api/caller.ts";
import { Pace } from "../api/pace.ts";
import {
  type ApiError,
  type Credential,
  createApiCall,
  createStreamCall,
  type OpenStream,
  UNREACHABLE,
} from "../api/request.ts";
import { rememberDevice, renewSession } from "../api/session.ts";
import { createDeviceToken, noteDevice, SAVED_DEVICE } from "./device.ts";
import { LedgerAccess } from "./ledger-access.ts";

export type CallerSession = {
  readonly kind: "caller";
  readonly serverId: string;
  readonly api: CallerApi;
  readonly openStream: OpenStream;
  /** The signed-in device that has it; undefined when a key was entered. */
  readonly deviceId: string | undefined;
  readonly pace: Pace;
  readonly ledger: LedgerAccess;
  /** Whether the key may send any command; Gatehouse checks each one. */
  readonly mayCommand: boolean;
  /** The commands that the key could send when the user signed in; "*" is all. */
  readonly commands: readonly string[];
  /** The sections that the key could read when the user signed in. */
  readonly sections: readonly Section[];
  readonly ownKey: Pick<OwnKeyResource, "key_id" | "label" | "server_name">;
};

export type OperatorSession = {
  readonly kind: "operator";
  readonly api: AdminApi;
  /** Opens streams of one server; the pace sees every outcome. */
  readonly createStreamOf: (serverId: string, pace: Pace) => OpenStream;
};

/** An operator who looks into a server without a key of it. */
export type ViewerSession = {
  readonly kind: "viewer";
  readonly serverId: string;
  readonly operator: OperatorSession;
  readonly api: ServerReader & HistoryReader;
  readonly openStream: OpenStream;
  readonly pace: Pace;
  readonly ledger: LedgerAccess;
  readonly sections: readonly Section[];
};

export type Session = CallerSession | OperatorSession | ViewerSession;

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
    | "deviceEnded"
    | "unreachable"
    | "unexpected";
  /** When to try again. */
  readonly retryAt: number;
  readonly code: number;
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

/** Signs in with a key that was saved for the tab, or as the device. */
export function signInSaved(saved: string): Promise<Session | SignInProblem> {
  return saved === SAVED_DEVICE ? signInDevice() : signIn(saved);
}

export function isSession(outcome: Session | SignInProblem): outcome is Session {
  return "kind" in outcome;
}

/** Only API keys can be remembered. */
export function isRememberable(credential: string): boolean {
  return credential.trim().startsWith(TOKEN_PREFIX);
}

/** Signs in with an API key and remembers the device. The page then forgets the key itself. */
export async function signInAndRemember(credential: string): Promise<Session | SignInProblem> {
  const key = credential.trim();
  const problem = findKeyProblem(key);
  if (problem) return problem;
  const outcome = await rememberDevice(key);
  if (!outcome.ok) return describeProblem(outcome.error);
  // A key that was saved for the tab would be preferred.
  deleteSavedCredential();
  noteDevice(outcome.value.device_id, true);
  return openDevice(outcome.value);
}

async function signInDevice(): Promise<Session | SignInProblem> {
  const outcome = await renewSession();
  return outcome.ok ? openDevice(outcome.value) : describeProblem(outcome.error, true);
}

function openDevice(granted: SessionResource): Promise<Session | SignInProblem> {
  return signInCaller(createDeviceToken(granted), granted.device_id);
}

async function signInCaller(key: Credential, deviceId?: string): Promise<Session | SignInProblem> {
  const pace = new Pace();
  const api = createCallerApi(createApiCall(key, (outcome) => pace.observe(outcome)));
  // Reads the key and not the server, so that a failing game API does not fail the sign-in.
  const answer = await api.readKey();
  if (!answer.ok) return describeProblem(answer.error, deviceId !== undefined);
  const { value: ownKey } = answer;
  const { server_id: serverId, sections, commands } = ownKey;
  const ledger = new LedgerAccess(api, pace);
  const openStream = createStreamCall(key, EVENT_STREAM, (outcome) => pace.observeStream(outcome));
  const mayCommand = commands.length > 0;
  const rights = { sections, mayCommand, commands, ownKey };
  return { kind: "caller", serverId, api, openStream, deviceId, pace, ledger, ...rights };
}

async function signInOperator(key: string): Promise<Session | SignInProblem> {
  const api = createAdminApi(createApiCall(key));
  const answer = await api.listServers({ limit: 1 });
  if (!answer.ok) return describeProblem(answer.error);
  return {
    kind: "operator",
    api,
    createStreamOf: (serverId, pace) =>
      createStreamCall(key, eventStreamOf(serverId), (outcome) => pace.observeStream(outcome)),
  };
}

export function openViewerSession(operator: OperatorSession, serverId: string): ViewerSession {
  const { api } = operator;
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
  };
  return {
    kind: "viewer",
    serverId,
    operator,
    api: reader,
    openStream: operator.createStreamOf(serverId, pace),
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

/** `isDevice`: a device was refused, not a key that was entered. */
export function describeProblem(error: ApiError, isDevice = false): SignInProblem {
  const { code, retryAfter } = error;
  return { text: findProblemText(error, isDevice), retryAt: Date.now() + (retryAfter ?? 60) * 1000, code };
}

function findProblemText({ code, details }: ApiError, isDevice: boolean): SignInProblem["text"] {
  if (code === ERRORS.forbidden.code && details?.reason === "origin") return "otherAddress";
  // No key was entered, so none can be mistyped.
  if (isDevice && endsSession({ code })) return "deviceEnded";
  return PROBLEMS[code] ?? "unexpected";
}

/** Whether the key no longer works: it was revoked, has expired, or the master key was changed. */
export function endsSession({ code }: Pick<ApiError, "code">): boolean {
  return (
    code === ERRORS.missingToken.code ||
    code === ERRORS.invalidToken.code ||
    code === ERRORS.invalidMasterKey.code
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

/** For views that read one server: with its key, or as an operator. */
export function useServerSession(): CallerSession | ViewerSession {
  const { session } = useSession();
  if (session.kind === "operator") throw new Error("this view is for one server");
  return session;
}

export function useOperatorSession(): OperatorSession {
  const { session } = useSession();
  if (session.kind !== "operator") throw new Error("this view is for operators");
  return session;
}

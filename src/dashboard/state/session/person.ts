// The person who is signed in with this browser: who they are, and a session for each of their servers. The cookie is out of the
// page's reach, so the page notes that there is one. Without a note nothing is asked.
import { useCallback, useEffect, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { Ability } from "../../../core/keys/rights.ts";
import { FIRST_ROLES } from "../../../core/people/role.ts";
import type { MeResource, RoleResource } from "../../../core/wire/people.ts";
import { type ApiError, createApiCall } from "../../api/request.ts";
import { createOwnApi, endSession, grantToken, type OwnApi, readMe, readSignInMethods } from "../../api/session.ts";
import { renewToken } from "./renewed-token.ts";
import {
  type AdminSession,
  type CallerSession,
  describeProblem,
  endsSession,
  isSession,
  openAdminSession,
  type Person,
  type SignInProblem,
  signInCaller,
} from "./session.ts";

const NOTE = "gatehouse.person";
const REFRESH_INTERVAL_MS = 60_000;
/** Another tab has signed this browser in as somebody else. */
const REPLACED: ApiError = {
  code: ERRORS.invalidToken.code,
  status: ERRORS.invalidToken.status,
  message: "",
  upstreamCode: undefined,
  upstreamMessage: undefined,
  retryAfter: undefined,
  details: undefined,
};

class OpenedPerson implements Person {
  readonly own: OwnApi;
  #me: MeResource;
  readonly #hasAdmin: boolean;
  readonly #servers = new Map<string, Promise<CallerSession | SignInProblem>>();
  readonly #listeners = new Set<() => void>();

  constructor(me: MeResource, hasAdmin: boolean, own: OwnApi) {
    this.#me = narrow(me, hasAdmin);
    this.#hasAdmin = hasAdmin;
    this.own = own;
  }

  readonly read = (): MeResource => this.#me;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  openServer(serverId: string): Promise<CallerSession | SignInProblem> {
    const opened = this.#servers.get(serverId) ?? this.#open(serverId);
    this.#servers.set(serverId, opened);
    return opened;
  }

  forgetServer(serverId: string): void {
    this.#servers.delete(serverId);
  }

  async refresh(): Promise<ApiError | undefined> {
    const outcome = await readMe();
    if (!outcome.ok) return outcome.error;
    const me = narrow(outcome.value, this.#hasAdmin);
    if (me.person.person_id !== this.#me.person.person_id) return REPLACED;
    if (JSON.stringify(me) === JSON.stringify(this.#me)) return undefined;
    this.#me = me;
    for (const listener of this.#listeners) listener();
    return undefined;
  }

  async #open(serverId: string): Promise<CallerSession | SignInProblem> {
    const granted = await grantToken({ server_id: serverId });
    const outcome = granted.ok
      ? await signInCaller(renewToken({ server_id: serverId }, granted.value), this)
      : describeProblem(granted.error, true);
    if (!isSession(outcome)) this.#servers.delete(serverId);
    return outcome;
  }
}

/** Signs in with the cookie of this browser. */
export async function signInPerson(): Promise<AdminSession | SignInProblem> {
  const [outcome, methods] = await Promise.all([readMe(), readSignInMethods()]);
  if (!outcome.ok) return describeProblem(outcome.error, true);
  notePerson();
  const own = createOwnApi(createApiCall(renewToken({ own: true })));
  const hasAdmin = !methods.ok || methods.value.admin;
  return openAdminSession(renewToken({}), new OpenedPerson(outcome.value, hasAdmin, own));
}

/** Who they are where they are: without the admin API nobody operates anything. */
function narrow(me: MeResource, hasAdmin: boolean): MeResource {
  if (hasAdmin) return me;
  const servers = me.servers.map((one) => ({ ...one, may: one.may.filter((each) => !ADMIN_ABILITIES.includes(each)) }));
  return { ...me, is_operator: false, servers };
}

export function notePerson(): void {
  withStorage(() => localStorage.setItem(NOTE, "1"));
}

export function isPersonNoted(): boolean {
  return withStorage(() => localStorage.getItem(NOTE)) !== null;
}

export function forgetPerson(): void {
  withStorage(() => localStorage.removeItem(NOTE));
}

/** Signs this browser out. Nobody waits for the answer: the page has forgotten the person either way. */
export function endPerson(): void {
  if (!isPersonNoted()) return;
  forgetPerson();
  void endSession();
}

function withStorage<T>(use: () => T): T | null {
  try {
    return use();
  } catch {
    // The browser forbids storage; the person is then signed in until the page is reloaded.
    return null;
  }
}

const ADMIN_ABILITIES: readonly Ability[] = ["exports", "alerts", "webhooks", "keys", "status", "people"];

/** What they may do in the admin API on some server. */
export function listAbilities(me: MeResource): ReadonlySet<Ability> {
  const all = new Set(me.servers.flatMap(({ may }) => may));
  return me.is_operator ? new Set(ADMIN_ABILITIES) : new Set(ADMIN_ABILITIES.filter((ability) => all.has(ability)));
}

const NOBODY = { subscribe: () => () => {}, read: () => undefined };

/** Who they are, as of the last minute; undefined without a person. */
export function useMe<P extends Person | undefined>(person: P): P extends Person ? MeResource : MeResource | undefined;
export function useMe(person: Person | undefined): MeResource | undefined {
  const { subscribe, read } = person ?? NOBODY;
  return useSyncExternalStore<MeResource | undefined>(subscribe, read);
}

/** Reads from time to time who they are, because somebody may change their roles or end their session. */
export function usePersonRefresh(person: Person | undefined, onEnd: (error: ApiError) => void): void {
  useEffect(() => {
    if (!person) return;
    const refresh = async () => {
      if (document.hidden) return;
      const error = await person.refresh();
      if (error && endsSession(error)) onEnd(error);
    };
    const timer = setInterval(refresh, REFRESH_INTERVAL_MS);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, [person, onEnd]);
}

/** Translates the title that Gatehouse gave a role; one that somebody wrote is shown as it is. */
export function useRoleTitle(): (role: Pick<RoleResource, "name" | "title">) => string {
  const { t } = useTranslation("shell");
  return useCallback(
    ({ name, title }) => {
      const isFirst = FIRST_ROLES.some((role) => role.name === name && role.title === title);
      return isFirst ? t(`role.${name as "viewer"}`) : title;
    },
    [t],
  );
}

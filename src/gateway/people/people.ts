// People who are signed in: their sessions, the tokens of these, and what their roles allow at this moment.
import { DAY_MS, HOUR_MS } from "../../core/durations.ts";
import { NOT_FOUND, type Refusal, StoreUnavailable } from "../../core/errors.ts";
import { type ApiKey, type Grant, ROLE_FORBIDDEN } from "../../core/keys/api-key.ts";
import { AttemptCounter, type AttemptRule } from "../../core/keys/attempt-limit.ts";
import { type AbilitySet, isWithin, toAbilitySet } from "../../core/keys/rights.ts";
import {
  hashToken,
  isInvitationSecret,
  isSessionSecret,
  mintSessionSecret,
  type RandomBytes,
  randomBase62,
} from "../../core/keys/token.ts";
import { callerIdOf, PEOPLE_MAX, type Person } from "../../core/people/person.ts";
import { OPERATOR_RIGHTS, OWNER_ROLE, type Role } from "../../core/people/role.ts";
import { type AuditDetails, type AuditNote, toPersonActor } from "../../core/ports/audit.ts";
import type { SessionDetails, SessionDraft } from "../../core/ports/people.ts";
import type { Store } from "../../core/ports/store.ts";
import { INVALID_TOKEN } from "../keys/authenticate.ts";
import { refuseAttempt } from "../keys/authenticate-operator.ts";
import type { Owners } from "./owners.ts";
import { FOR_OWN, type OpenedToken, SESSION_TOKEN_MS, type SessionTokens } from "./session-tokens.ts";

export const REMEMBERED_MS = 30 * DAY_MS;
/** A session that is not to be remembered: its cookie goes with the browser, and it ends by itself. */
export const UNREMEMBERED_MS = 12 * HOUR_MS;
/** A use is not recorded again within this time: recording is a write. */
export const USE_STEP_MS = 60_000;
export const ID_LENGTH = 20;
/** So that nobody can fill the audit log by signing in again and again. */
const SIGN_INS: AttemptRule = { max: 30, windowMs: HOUR_MS };
/** Those of the rights that something in the admin API needs. */
const ADMIN_ABILITIES: AbilitySet = toAbilitySet(["exports", "alerts", "webhooks", "keys", "status", "people"]);

/** Who asks, as far as it is known. */
export type Client = { readonly address: string; readonly description: string };

export type SignedIn = { readonly person: Person; readonly session: SessionDetails };
/** What the rights of a session depend on. */
export type SessionOf = { readonly person: Person; readonly session: Pick<SessionDetails, "chatId"> };

/** `secret` is for the cookie. */
export type NewSession = { readonly person: Person; readonly draft: SessionDraft; readonly secret: string };

/** A person in the admin API. `roles` are those on its servers, by id of the server; an operator's are on all of them. */
export type Administrator = SignedIn & { readonly roles: ReadonlyMap<string, Role> };

export type GrantedToken = OpenedToken & { readonly token: string; readonly session: SessionDetails };

export type SignInMethod = "invitation" | "passkey" | "chat";

export type PeopleDeps = {
  readonly store: Pick<Store, "people" | "roles" | "sessions" | "invitations" | "servers" | "catchUp">;
  readonly tokens: SessionTokens;
  readonly owners: Owners;
  readonly randomBytes: RandomBytes;
};

export class People {
  readonly #signIns = new AttemptCounter(SIGN_INS, PEOPLE_MAX);
  /** Made once for each role: all who have it share the object. */
  readonly #grants = new WeakMap<Role, Grant>();

  constructor(private readonly deps: PeopleDeps) {}

  /** How many people have signed in lately. */
  get signingIn(): number {
    return this.#signIns.size;
  }

  /** The caller behind a token for a server. */
  async findCaller(token: string, now: number): Promise<ApiKey | Refusal> {
    const opened = this.deps.tokens.open(token, now);
    if (!opened || opened.serverId === null) return INVALID_TOKEN;
    const signedIn = await this.#findSession(opened, now);
    if (!signedIn) return INVALID_TOKEN;
    const { person, session } = signedIn;
    const { serverId } = opened;
    if (!this.deps.store.servers.find(serverId)) return INVALID_TOKEN;
    const role = await this.#findRole(signedIn, serverId, now);
    if (!role) return ROLE_FORBIDDEN;
    return {
      keyId: callerIdOf(person.personId, serverId),
      serverId,
      label: person.name,
      grant: this.#grantOf(role),
      expiresAt: Math.min(opened.expiresAt, session.expiresAt),
      person: { personId: person.personId, playerId: person.playerId },
    };
  }

  /** Who acts with a token for the admin API. Undefined when it is none, or no longer. */
  async findAdmin(token: string, now: number): Promise<Administrator | undefined> {
    const opened = this.deps.tokens.open(token, now);
    if (!opened || opened.serverId !== null) return undefined;
    await this.deps.store.catchUp();
    const signedIn = await this.#findSession(opened, now);
    if (!signedIn) return undefined;
    return { ...signedIn, roles: await this.listRolesOf(signedIn, now) };
  }

  /** Who is signed in with a token of any kind. */
  async findByToken(token: string, now: number): Promise<SignedIn | undefined> {
    const opened = this.deps.tokens.open(token, now);
    if (!opened) return undefined;
    await this.deps.store.catchUp();
    return this.#findSession(opened, now);
  }

  /** Who is signed in with a cookie. */
  async findBySecret(secret: string, now: number): Promise<SignedIn | undefined> {
    if (!isSessionSecret(secret)) return undefined;
    await this.deps.store.catchUp();
    return this.#toSignedIn(await this.deps.store.sessions.findBySecret(hashToken(secret), now));
  }

  /** The role on a server at this moment. `isRenewal`: owners are judged by a reading of this minute. */
  async #findRole(signedIn: SessionOf, serverId: string, now: number, isRenewal = false): Promise<Role | undefined> {
    const { person } = signedIn;
    const { store, owners } = this.deps;
    const server = store.servers.find(serverId);
    if (!server) return undefined;
    if (person.isOperator) return this.#operatorRole();
    const own = person.servers.find((one) => one.serverId === serverId);
    const chatId = findProvenChatId(signedIn);
    const isOwner = chatId !== null && (await owners.isOwner(server, chatId, now, isRenewal));
    return pickRole(own && store.roles.find(own.role), isOwner ? store.roles.find(OWNER_ROLE) : undefined);
  }

  /** The roles on all servers that the person has in this session, at this moment. */
  listRolesOf(signedIn: SessionOf, now: number, isRenewal = false): Promise<ReadonlyMap<string, Role>> {
    return this.listRoles({ ...signedIn.person, chatId: findProvenChatId(signedIn) }, now, isRenewal);
  }

  /** Also what the person would have as an owner, once the chat platform has vouched for the id. */
  async listRoles(person: Person, now: number, isRenewal = false): Promise<ReadonlyMap<string, Role>> {
    const { store, owners } = this.deps;
    const { servers } = store;
    if (person.isOperator) {
      const role = this.#operatorRole();
      return new Map(Array.from(servers.all(), ({ serverId }) => [serverId, role]));
    }
    const roles = new Map<string, Role>();
    const owned = person.chatId === null ? [] : await owners.listOwned(person.chatId, now, isRenewal);
    const ownerRole = store.roles.find(OWNER_ROLE);
    for (const { serverId } of owned) if (ownerRole) roles.set(serverId, ownerRole);
    for (const { serverId, role: name } of person.servers) {
      const role = pickRole(store.roles.find(name), roles.get(serverId));
      if (role && servers.find(serverId)) roles.set(serverId, role);
    }
    return roles;
  }

  /** A token for one server, for what is their own, or for the admin API. Signing in lasts longer by it. */
  async grant(signedIn: SignedIn, serverId: string | undefined, now: number): Promise<GrantedToken | Refusal> {
    const refusal = await this.#findGrantRefusal(signedIn, serverId, now);
    if (refusal) return refusal;
    const session = await this.#recordUse(signedIn.session, now);
    const opened = {
      sessionId: session.sessionId,
      serverId: serverId ?? null,
      expiresAt: Math.min(now + SESSION_TOKEN_MS, session.expiresAt),
    };
    return { ...opened, token: this.deps.tokens.mint(opened), session };
  }

  /** Signs in with an invitation. */
  async redeem(secret: string, isRemembered: boolean, client: Client, now: number): Promise<NewSession | Refusal> {
    const { store } = this.deps;
    const secretHash = hashToken(secret);
    const personId = isInvitationSecret(secret) ? await store.invitations.find(secretHash, now) : undefined;
    if (personId === undefined) return INVALID_TOKEN;
    await store.catchUp();
    const person = store.people.find(personId);
    if (!person || person.isDisabled) return INVALID_TOKEN;
    return this.signIn(person, "invitation", isRemembered, client, now, ({ draft, note }) =>
      store.invitations.redeem(secretHash, draft, now, note),
    );
  }

  /** Opens a session. `add` stores it together with what is used up for it, and returns false when that was used up before. */
  async signIn(
    person: Person,
    method: SignInMethod,
    isRemembered: boolean,
    client: Client,
    now: number,
    add: (session: { readonly draft: SessionDraft; readonly note: AuditNote }) => Promise<boolean>,
  ): Promise<NewSession | Refusal> {
    const seconds = this.#signIns.count(person.personId, now);
    if (seconds !== undefined) return refuseAttempt(seconds);
    const { randomBytes } = this.deps;
    const secret = mintSessionSecret(randomBytes);
    const draft: SessionDraft = {
      sessionId: `ses_${randomBase62(ID_LENGTH, randomBytes)}`,
      secretHash: hashToken(secret),
      isRemembered,
      expiresAt: now + (isRemembered ? REMEMBERED_MS : UNREMEMBERED_MS),
      chatId: method === "chat" ? person.chatId : null,
      description: client.description,
    };
    const { sessionId: session_id, description, expiresAt: expires_at } = draft;
    const details = { after: { session_id, description, expires_at, signed_in_by: method } };
    const note = toOwnNote(person, client, now, "session.opened", details);
    return (await add({ draft, note })) ? { person, draft, secret } : INVALID_TOKEN;
  }

  /** Ends one of the person's own sessions. */
  async end({ person }: SignedIn, sessionId: string, client: Client, now: number): Promise<Refusal | undefined> {
    const note = toOwnNote(person, client, now, "session.ended", { before: { session_id: sessionId } });
    const ended = await this.deps.store.sessions.end(person.personId, sessionId, now, note);
    return ended === 0 ? NOT_FOUND : undefined;
  }

  async #findSession({ sessionId }: OpenedToken, now: number): Promise<SignedIn | undefined> {
    return this.#toSignedIn(await this.deps.store.sessions.find(sessionId, now));
  }

  #toSignedIn(session: SessionDetails | undefined): SignedIn | undefined {
    const person = session && this.deps.store.people.find(session.personId);
    return person && !person.isDisabled ? { person, session } : undefined;
  }

  async #findGrantRefusal(signedIn: SignedIn, serverId: string | undefined, now: number): Promise<Refusal | undefined> {
    const { person } = signedIn;
    if (serverId === FOR_OWN) return undefined;
    if (serverId === undefined) {
      return isAdministrator(person, await this.listRolesOf(signedIn, now, true)) ? undefined : ROLE_FORBIDDEN;
    }
    if (await this.#findRole(signedIn, serverId, now, true)) return undefined;
    // Only an operator may learn which servers there are.
    return person.isOperator ? NOT_FOUND : ROLE_FORBIDDEN;
  }

  #operatorRole(): Role {
    const title = this.deps.store.roles.find(OWNER_ROLE)?.title ?? OWNER_ROLE;
    if (this.#operators?.title !== title) this.#operators = { ...OPERATOR_RIGHTS, name: OWNER_ROLE, title };
    return this.#operators;
  }
  #operators: Role | undefined;

  #grantOf(role: Role): Grant {
    const known = this.#grants.get(role);
    if (known) return known;
    const { sections, commands, hide, may } = role;
    const grant: Grant = {
      versions: ["v2"],
      sections,
      commands,
      hide,
      may,
      allowedFrom: null,
      isSuspended: false,
    };
    this.#grants.set(role, grant);
    return grant;
  }

  /** A store that cannot be written, because its disk is full, still lets people in. */
  async #recordUse(session: SessionDetails, now: number): Promise<SessionDetails> {
    if (now - session.lastUsedAt < USE_STEP_MS) return session;
    const expiresAt = session.isRemembered ? now + REMEMBERED_MS : session.expiresAt;
    try {
      await this.deps.store.sessions.recordUse(session.sessionId, now, expiresAt);
      return { ...session, lastUsedAt: now, expiresAt };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return session;
    }
  }
}

/** For what people do with their own sessions and passkeys. */
export function toOwnNote(
  person: Person,
  { address }: Client,
  at: number,
  action: string,
  details: AuditDetails,
): AuditNote {
  return { at, action, actor: toPersonActor(person, address), details };
}

/** An operator may have set the chat id of a person to any number: only the platform says whose it is. */
function findProvenChatId({ person, session }: SessionOf): string | null {
  return session.chatId === person.chatId ? session.chatId : null;
}

/** An owner keeps a role of their own that contains that of owners. Any other would take rights from them. */
function pickRole(own: Role | undefined, ofOwner: Role | undefined): Role | undefined {
  return own && (!ofOwner || isWithin(ofOwner, own)) ? own : ofOwner;
}

function isAdministrator({ isOperator }: Person, roles: ReadonlyMap<string, Role>): boolean {
  return isOperator || roles.values().some(({ may }) => (may & ADMIN_ABILITIES) !== 0);
}

// People, roles, and what people sign in with: invitations, passkeys, sessions.
import type { Person } from "../people/person.ts";
import type { Role } from "../people/role.ts";
import type { AuditNote } from "./audit.ts";
import type { Page, PageRequest } from "./pages.ts";

export type PersonDraft = Omit<Person, "personId" | "createdAt">;

/** A person as an operator sees it. */
export type PersonDetails = Person & {
  readonly lastSeenAt: number | null;
  readonly passkeys: number;
  readonly sessions: number;
};

export type PersonFilter = { readonly serverId?: string | undefined; readonly name?: string | undefined };

/** Another person has the name (without case) or the chat id, there are PEOPLE_MAX, or the person is not as it was judged. */
export type PersonRefused = { readonly refused: "name_taken" | "chat_id_taken" | "full" | "changed" };

/**
 * Roles of a person that do not exist, and roles on servers that do not exist, are left out when a person is written. With
 * `judged`, nothing is done to a person who became or ceased to be an operator, or got other roles or another chat id since.
 */
export interface PeopleStore {
  /** Synchronous, because all people are in memory. */
  find(personId: string): Person | undefined;
  findByChatId(chatId: string): Person | undefined;
  /** Every person, in no particular order. */
  all(): Iterable<Person>;
  findDetails(personId: string, now: number): Promise<PersonDetails | undefined>;
  /** Oldest first. */
  list(page: PageRequest & PersonFilter, now: number): Promise<Page<PersonDetails>>;
  create(draft: PersonDraft, now: number, note?: AuditNote): Promise<Person | PersonRefused>;
  /**
   * Disabling and becoming an operator end all sessions and the invitation, any other new right the invitation. Undefined when
   * there is no such person.
   */
  update(
    personId: string,
    change: Partial<PersonDraft>,
    note?: AuditNote,
    judged?: Person,
  ): Promise<Person | PersonRefused | undefined>;
  /** Ends sessions, passkeys and invitations, and takes blocks and usage with it. False when there is no such person. */
  delete(personId: string, note?: AuditNote, judged?: Person): Promise<boolean>;
}

export interface RoleStore {
  /** Synchronous, because all roles are in memory. */
  find(name: string): Role | undefined;
  /** The five first, then by name. */
  all(): readonly Role[];
  /** Creates or replaces. `full`: there are ROLES_MAX. */
  put(role: Role, note?: AuditNote): Promise<"done" | "full">;
  /** `used`: some person has it. `unknown`: there is no such role. The caller never deletes one of the first five. */
  delete(name: string, note?: AuditNote): Promise<"done" | "used" | "unknown">;
}

export type SessionDraft = {
  readonly sessionId: string;
  readonly secretHash: string;
  /** False: it goes with the browser, and ends after twelve hours. */
  readonly isRemembered: boolean;
  readonly expiresAt: number;
  /** The id with which the chat platform vouched for the person; null when it was opened in another way. */
  readonly chatId: string | null;
  /** Browser and system, as far as they are known. */
  readonly description: string;
};

export type SessionDetails = Omit<SessionDraft, "secretHash"> & {
  readonly personId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
};

/**
 * A session ends when it expires, when somebody ends it, and when its person is disabled or deleted. A person has at most
 * SESSIONS_PER_PERSON_MAX: one more ends the least recently used. Every end is a change that all instances learn of.
 */
export interface SessionStore {
  find(sessionId: string, now: number): Promise<SessionDetails | undefined>;
  findBySecret(secretHash: string, now: number): Promise<SessionDetails | undefined>;
  /** The most recently used first. */
  list(personId: string, now: number): Promise<readonly SessionDetails[]>;
  /** False when there is no such person, or when it is disabled. */
  add(personId: string, draft: SessionDraft, now: number, note?: AuditNote): Promise<boolean>;
  /** Records the use and the new end, unless a use was recorded within the last minute. */
  recordUse(sessionId: string, now: number, expiresAt: number): Promise<void>;
  /** Ends one session, or all of the person without `sessionId`. Returns how many. */
  end(personId: string, sessionId: string | undefined, now: number, note?: AuditNote): Promise<number>;
}

export interface InvitationStore {
  /** A new one ends the old one. False when there is no such person, or it is not as it was judged, as in PeopleStore. */
  add(personId: string, secretHash: string, expiresAt: number, note?: AuditNote, judged?: Person): Promise<boolean>;
  /** The person of an open invitation. One of a person who is disabled is not open. */
  find(secretHash: string, now: number): Promise<string | undefined>;
  /** Ends the invitation and adds the session, atomically. False when it is not open: of several callers one gets true. */
  redeem(secretHash: string, draft: SessionDraft, now: number, note?: AuditNote): Promise<boolean>;
}

export type Passkey = {
  readonly passkeyId: string;
  readonly personId: string;
  /** Of the authenticator, base64url. */
  readonly credentialId: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly label: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
};

export interface PasskeyStore {
  findByCredential(credentialId: string): Promise<Passkey | undefined>;
  list(personId: string): Promise<readonly Passkey[]>;
  /**
   * `full`: the person has PASSKEYS_PER_PERSON_MAX. `taken`: the credential is somebody's. `used`: the challenge was used, or
   * there is no such person.
   */
  add(
    passkey: Passkey,
    challenge: string,
    challengeExpiresAt: number,
    note?: AuditNote,
  ): Promise<"done" | "full" | "taken" | "used">;
  /**
   * Signs in: stores the counter and adds the session, atomically. False when the challenge was used, the
   * passkey is gone or its person is disabled.
   */
  signIn(
    passkeyId: string,
    counter: number,
    challenge: { readonly value: string; readonly expiresAt: number },
    draft: SessionDraft,
    now: number,
    note?: AuditNote,
  ): Promise<boolean>;
  /** Ends one passkey, or all of the person without `passkeyId`. Returns how many. */
  delete(personId: string, passkeyId: string | undefined, note?: AuditNote): Promise<number>;
}

/** Challenges and states of sign-ins that were used: each counts once. They are signed, so only used ones are stored. */
export interface UsedChallengeStore {
  /** False when it was used before, or has expired. */
  use(challenge: string, expiresAt: number, now: number): Promise<boolean>;
  /** Whether it was used. Nobody knows it any more some time after its end. */
  isUsed(challenge: string): Promise<boolean>;
}

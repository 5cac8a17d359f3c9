// What people sign in with: sessions, invitations, passkeys, and the challenges that were used. A sign-in is a change of the
// person, so that it meets no deletion and no other sign-in half way.
import { PASSKEYS_PER_PERSON_MAX, type Person, SESSIONS_PER_PERSON_MAX } from "../../core/people/person.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type {
  InvitationStore,
  Passkey,
  PasskeyStore,
  SessionDetails,
  SessionDraft,
  SessionStore,
  UsedChallengeStore,
} from "../../core/ports/people.ts";
import { asFields, type Driver, insertRow, type Sql, toStorable } from "../sql.ts";
import type { Changes } from "./changes.ts";
import { isAsJudged, isEnabled, readPerson } from "./people.ts";

/** A use is not recorded again within this time: recording is a write. */
const USE_STEP_MS = 60_000;

type SessionRow = Omit<SessionDetails, "isRemembered"> & { readonly remembered: number };
const SESSION_FIELDS = asFields(
  "session_id, person_id, remembered, chat_id, description, created_at, last_used_at, expires_at",
);

type PasskeyRow = Omit<Passkey, "transports"> & { readonly transports: string };
const PASSKEY_FIELDS = asFields(
  "passkey_id, person_id, credential_id, public_key, counter, transports, label, created_at, last_used_at",
);

export type SignInDeps = { readonly driver: Driver; readonly changes: Changes };

export class SessionTable implements SessionStore {
  constructor(private readonly deps: SignInDeps) {}

  find(sessionId: string, now: number): Promise<SessionDetails | undefined> {
    return this.#findBy("session_id", sessionId, now);
  }

  findBySecret(secretHash: string, now: number): Promise<SessionDetails | undefined> {
    return this.#findBy("secret_hash", secretHash, now);
  }

  list(personId: string, now: number): Promise<readonly SessionDetails[]> {
    return this.deps.driver.query(async (sql) => {
      const query = `SELECT ${SESSION_FIELDS} FROM person_sessions WHERE person_id = ?1 AND expires_at > ?2
                     ORDER BY last_used_at DESC, created_at DESC, session_id`;
      return (await sql.all<SessionRow>(query, personId, now)).map(toSession);
    });
  }

  async add(personId: string, draft: SessionDraft, now: number, note?: AuditNote): Promise<boolean> {
    const add = (sql: Sql) => insertSession(sql, personId, draft, now);
    return (await this.deps.changes.make([personId], add, { target: personId, note })) !== undefined;
  }

  async recordUse(sessionId: string, now: number, expiresAt: number): Promise<void> {
    await this.deps.driver.transact(async (sql) => {
      const used = await sql.get<{ person_id: string }>(
        `UPDATE person_sessions SET last_used_at = ?2, expires_at = ?3
         WHERE session_id = ?1 AND last_used_at <= ?4 AND expires_at > ?2 RETURNING person_id`,
        ...[sessionId, now, expiresAt, now - USE_STEP_MS],
      );
      if (used) await recordSeen(sql, used.person_id, now);
    });
  }

  async end(personId: string, sessionId: string | undefined, now: number, note?: AuditNote): Promise<number> {
    const condition = sessionId === undefined ? "" : "AND session_id = ?3";
    const end = async (sql: Sql) =>
      (await sql.run(
        `DELETE FROM person_sessions WHERE person_id = ?1 AND expires_at > ?2 ${condition}`,
        personId,
        now,
        ...(sessionId === undefined ? [] : [sessionId]),
      )) || undefined;
    return (await this.deps.changes.make([personId], end, { target: personId, note })) ?? 0;
  }

  #findBy(column: "session_id" | "secret_hash", value: string, now: number): Promise<SessionDetails | undefined> {
    return this.deps.driver.query(async (sql) => {
      const query = `SELECT ${SESSION_FIELDS} FROM person_sessions WHERE ${column} = ?1 AND expires_at > ?2`;
      const row = await sql.get<SessionRow>(query, value, now);
      return row && toSession(row);
    });
  }
}

export class InvitationTable implements InvitationStore {
  constructor(private readonly deps: SignInDeps) {}

  async add(
    personId: string,
    secretHash: string,
    expiresAt: number,
    note?: AuditNote,
    judged?: Person,
  ): Promise<boolean> {
    const add = async (sql: Sql) => {
      const person = await readPerson(sql, personId);
      if (!person || !isAsJudged(person, judged)) return undefined;
      const added = await sql.run(
        `INSERT INTO invitations (person_id, secret_hash, expires_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (person_id) DO UPDATE SET secret_hash = excluded.secret_hash, expires_at = excluded.expires_at`,
        ...[personId, secretHash, expiresAt],
      );
      return added || undefined;
    };
    return (await this.deps.changes.make([personId], add, { target: personId, note })) !== undefined;
  }

  find(secretHash: string, now: number): Promise<string | undefined> {
    return this.deps.driver.query((sql) => findInvited(sql, secretHash, now));
  }

  async redeem(secretHash: string, draft: SessionDraft, now: number, note?: AuditNote): Promise<boolean> {
    const personId = await this.find(secretHash, now);
    if (personId === undefined) return false;
    const redeem = async (sql: Sql) => {
      if ((await findInvited(sql, secretHash, now)) === undefined) return undefined;
      await sql.run("DELETE FROM invitations WHERE secret_hash = ?1", secretHash);
      return insertSession(sql, personId, draft, now);
    };
    return (await this.deps.changes.make([personId], redeem, { target: personId, note })) !== undefined;
  }
}

export class PasskeyTable implements PasskeyStore {
  constructor(private readonly deps: SignInDeps) {}

  findByCredential(credentialId: string): Promise<Passkey | undefined> {
    return this.deps.driver.query(async (sql) => {
      const query = `SELECT ${PASSKEY_FIELDS} FROM passkeys WHERE credential_id = ?1`;
      const row = await sql.get<PasskeyRow>(query, toStorable(credentialId));
      return row && toPasskey(row);
    });
  }

  list(personId: string): Promise<readonly Passkey[]> {
    return this.deps.driver.query(async (sql) => {
      const query = `SELECT ${PASSKEY_FIELDS} FROM passkeys WHERE person_id = ?1 ORDER BY created_at, passkey_id`;
      return (await sql.all<PasskeyRow>(query, personId)).map(toPasskey);
    });
  }

  async add(
    passkey: Passkey,
    challenge: string,
    challengeExpiresAt: number,
    note?: AuditNote,
  ): Promise<"done" | "full" | "taken" | "used"> {
    const { personId, credentialId } = passkey;
    let refusal: "full" | "taken" | "used" = "used";
    const add = async (sql: Sql) => {
      if (!(await isEnabled(sql, personId)) || !(await spendChallenge(sql, challenge, challengeExpiresAt)))
        return undefined;
      const others = await sql.all<{ credential_id: string }>(
        "SELECT credential_id FROM passkeys WHERE person_id = ?1 OR credential_id = ?2",
        ...[personId, credentialId],
      );
      const isTaken = others.some(({ credential_id }) => credential_id === credentialId);
      refusal = isTaken ? "taken" : "full";
      if (isTaken || others.length >= PASSKEYS_PER_PERSON_MAX) return undefined;
      await insertRow(sql, "passkeys", toPasskeyRow(passkey));
      return true;
    };
    return (await this.deps.changes.make([personId], add, { target: personId, note })) === undefined ? refusal : "done";
  }

  async signIn(
    passkeyId: string,
    counter: number,
    challenge: { readonly value: string; readonly expiresAt: number },
    draft: SessionDraft,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    const query = "SELECT person_id FROM passkeys WHERE passkey_id = ?1";
    const read = (sql: Sql) => sql.get<{ person_id: string }>(query, passkeyId);
    const personId = (await this.deps.driver.query(read))?.person_id;
    if (personId === undefined) return false;
    const signIn = async (sql: Sql) => {
      if (!(await read(sql)) || !(await spendChallenge(sql, challenge.value, challenge.expiresAt))) return undefined;
      const added = await insertSession(sql, personId, draft, now);
      const update = "UPDATE passkeys SET counter = ?2, last_used_at = ?3 WHERE passkey_id = ?1";
      if (added !== undefined) await sql.run(update, passkeyId, counter, now);
      return added;
    };
    return (await this.deps.changes.make([personId], signIn, { target: personId, note })) !== undefined;
  }

  async delete(personId: string, passkeyId: string | undefined, note?: AuditNote): Promise<number> {
    const condition = passkeyId === undefined ? "" : "AND passkey_id = ?2";
    const remove = async (sql: Sql) =>
      (await sql.run(
        `DELETE FROM passkeys WHERE person_id = ?1 ${condition}`,
        personId,
        ...(passkeyId === undefined ? [] : [passkeyId]),
      )) || undefined;
    return (await this.deps.changes.make([personId], remove, { target: personId, note })) ?? 0;
  }
}

export class UsedChallengeTable implements UsedChallengeStore {
  constructor(private readonly driver: Driver) {}

  async use(challenge: string, expiresAt: number, now: number): Promise<boolean> {
    return expiresAt > now && this.driver.transact((sql) => spendChallenge(sql, challenge, expiresAt));
  }

  async isUsed(challenge: string): Promise<boolean> {
    const query = "SELECT 1 FROM used_challenges WHERE challenge = ?1";
    return (await this.driver.query((sql) => sql.get(query, challenge))) !== undefined;
  }
}

/** Within a change. Undefined when there is no such person, or when it is disabled. */
async function insertSession(
  sql: Sql,
  personId: string,
  { sessionId, secretHash, isRemembered, expiresAt, chatId, description }: SessionDraft,
  now: number,
): Promise<true | undefined> {
  if (!(await isEnabled(sql, personId))) return undefined;
  await sql.run(
    `DELETE FROM person_sessions WHERE person_id = ?1 AND (expires_at <= ?2 OR session_id NOT IN (
       SELECT session_id FROM person_sessions WHERE person_id = ?1 AND expires_at > ?2
       ORDER BY last_used_at DESC, created_at DESC, session_id LIMIT ?3))`,
    ...[personId, now, SESSIONS_PER_PERSON_MAX - 1],
  );
  const ids = { session_id: sessionId, person_id: personId, secret_hash: secretHash, chat_id: chatId };
  const times = { created_at: now, last_used_at: now, expires_at: expiresAt };
  await insertRow(sql, "person_sessions", { ...ids, remembered: +isRemembered, description, ...times });
  await recordSeen(sql, personId, now);
  return true;
}

async function recordSeen(sql: Sql, personId: string, now: number): Promise<void> {
  const update = "UPDATE people SET last_seen_at = ?2 WHERE person_id = ?1 AND coalesce(last_seen_at, 0) < ?2";
  await sql.run(update, personId, now);
}

async function findInvited(sql: Sql, secretHash: string, now: number): Promise<string | undefined> {
  const row = await sql.get<{ person_id: string }>(
    `SELECT person_id FROM invitations JOIN people USING (person_id)
     WHERE secret_hash = ?1 AND expires_at > ?2 AND disabled = 0`,
    ...[secretHash, now],
  );
  return row?.person_id;
}

/** Of several at once one gets true. */
async function spendChallenge(sql: Sql, challenge: string, expiresAt: number): Promise<boolean> {
  const insert = "INSERT INTO used_challenges (challenge, expires_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
  return (await sql.run(insert, challenge, expiresAt)) > 0;
}

function toSession({ remembered, ...session }: SessionRow): SessionDetails {
  return { ...session, isRemembered: remembered !== 0 };
}

function toPasskeyRow(passkey: Passkey) {
  return {
    passkey_id: passkey.passkeyId,
    person_id: passkey.personId,
    credential_id: passkey.credentialId,
    public_key: passkey.publicKey,
    counter: passkey.counter,
    transports: JSON.stringify(passkey.transports),
    label: passkey.label,
    created_at: passkey.createdAt,
    last_used_at: passkey.lastUsedAt,
  };
}

function toPasskey({ transports, ...passkey }: PasskeyRow): Passkey {
  return { ...passkey, transports: JSON.parse(transports) as string[] };
}

-- People who sign in to the dashboard. `name_key` and the chat id belong to one person.
CREATE TABLE people (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  person_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  operator INTEGER NOT NULL,
  player_id TEXT,
  chat_id TEXT,
  disabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER
) STRICT;
CREATE UNIQUE INDEX people_by_chat_id ON people (chat_id) WHERE chat_id IS NOT NULL;

CREATE TABLE person_servers (
  person_id TEXT NOT NULL,
  server_id TEXT NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (person_id, server_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX person_servers_by_server ON person_servers (server_id);

CREATE TABLE roles (
  name TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  sections INTEGER NOT NULL,
  hide INTEGER NOT NULL,
  commands TEXT NOT NULL,
  may INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A person has at most one open invitation.
CREATE TABLE invitations (
  person_id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
  passkey_id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  credential_id TEXT NOT NULL UNIQUE,
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_of_person ON passkeys (person_id);

CREATE TABLE person_sessions (
  session_id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  remembered INTEGER NOT NULL,
  chat_id TEXT,
  description TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX person_sessions_of_person ON person_sessions (person_id);
CREATE INDEX person_sessions_by_end ON person_sessions (expires_at);

-- Challenges and states of sign-ins that were used, until they would have expired.
CREATE TABLE used_challenges (challenge TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX used_challenges_by_end ON used_challenges (expires_at);

ALTER TABLE servers ADD COLUMN owners_sign_in INTEGER NOT NULL DEFAULT 0;

-- The server that an entry is about, if it is about one.
ALTER TABLE audit ADD COLUMN server_id TEXT;
CREATE INDEX audit_of_server ON audit (server_id, seq) WHERE server_id IS NOT NULL;

-- Who sent it, as JSON; null for commands of before.
ALTER TABLE commands ADD COLUMN sent_by TEXT;

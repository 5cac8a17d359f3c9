// People: those who sign in to the dashboard. All of them are in memory, because requests are checked against their roles.
import { foldCase } from "../fold-case.ts";

export const PEOPLE_MAX = 1_000;
export const PERSON_NAME_MAX = 50;
export const SESSIONS_PER_PERSON_MAX = 10;
export const PASSKEYS_PER_PERSON_MAX = 10;

export type ServerRole = { readonly serverId: string; readonly role: string };

export type Person = {
  readonly personId: string;
  readonly name: string;
  readonly isOperator: boolean;
  readonly servers: readonly ServerRole[];
  /** Their id in the game, digits. */
  readonly playerId: string | null;
  /** Their id on the chat platform, digits. */
  readonly chatId: string | null;
  readonly isDisabled: boolean;
  readonly createdAt: number;
};

/** Characters that are displayed as nothing, or change how others are displayed. */
const INVISIBLE = /\p{Cf}+/gu;

/** Two names are the same when these are: without case, and without what nobody sees, so that no name passes for another. */
export function foldName(name: string): string {
  return foldCase(name.normalize("NFKC").replace(INVISIBLE, "").replace(/\s+/g, " ").trim());
}

/** A person's limit, block and usage are apart for each server, under this id, where a key has its own. */
export function callerIdOf(personId: string, serverId: string): string {
  return `${personId}@${serverId}`;
}

const CALLER_ID = /^(per_[0-9A-Za-z]+)@(srv_[0-9A-Za-z]+)$/;

/** Undefined for the id of a key. */
export function parseCallerId(id: string): { readonly personId: string; readonly serverId: string } | undefined {
  const [, personId, serverId] = CALLER_ID.exec(id) ?? [];
  return personId !== undefined && serverId !== undefined ? { personId, serverId } : undefined;
}

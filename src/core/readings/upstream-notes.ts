// The notes about the game API in the store's settings: its pause, and the keys that it has refused. The gateway writes
// them; the gateway and the doctor read them.
import { hashToken } from "../keys/token.ts";
import type { UpstreamFailure } from "../ports/upstream.ts";
import type { Budget } from "./budget.ts";

export const PAUSE = "upstream-pause";
/** When an operator last lifted a pause. Written together with the audit entry. */
export const LIFTED_AT = "upstream-lifted-at";
export const REFUSED_KEYS = "refused-server-keys";
export const REFUSED_GLOBAL_KEY = "refused-global-key";
/** The settings that parseNotes needs. */
export const NOTE_NAMES: readonly string[] = [PAUSE, LIFTED_AT, REFUSED_KEYS, REFUSED_GLOBAL_KEY];

/** `at`: when it was refused; notes of older versions do not say. */
export type RefusedKey = {
  readonly serverId: string;
  readonly keyRevision: number;
  readonly failure: UpstreamFailure;
  readonly at?: number | undefined;
};

/** The refusal of the global key, with the time of it as in RefusedKey. */
export type GlobalKeyFailure = UpstreamFailure & Pick<RefusedKey, "at">;

export type SavedPause = Pick<Budget, "pausedUntil" | "pauseMs"> & Partial<Pick<Budget, "isPauseNamed">>;

export type SavedNotes = {
  /** The last pause, which may be over. Undefined when it was lifted. */
  readonly pause: SavedPause | undefined;
  /** When an operator last lifted a pause; 0 before. */
  readonly liftedAt: number;
  readonly refusedKeys: readonly RefusedKey[];
  /** Null while the global key may be used. */
  readonly globalKeyFailure: GlobalKeyFailure | null;
};

type FindSetting = (name: string) => string | undefined;

/** Identifies the pair of game API and global key. Hashed, because the global key is a secret. */
export function identifyUpstream(baseUrl: string, globalKey: string | undefined): string {
  return hashToken(`${baseUrl} ${globalKey ?? ""}`);
}

/** The value of a note's setting. */
export function writeNote(identity: string, said: unknown): string {
  return JSON.stringify({ by: identity, said });
}

/** Ignores what was saved for another `identity`, see identifyUpstream. */
export function parseNotes(
  find: FindSetting,
  findKeyRevision: (serverId: string) => number | undefined,
  identity: string,
): SavedNotes {
  const refused = findNote<RefusedKey[]>(find, REFUSED_KEYS, identity) ?? [];
  const saved = findNote<SavedPause>(find, PAUSE, identity);
  const liftedAt = Number(find(LIFTED_AT) ?? 0);
  return {
    // The process may have ended after a pause was lifted and before the note was deleted.
    pause: saved && saved.pausedUntil - saved.pauseMs > liftedAt ? saved : undefined,
    liftedAt,
    // Drops the keys that were replaced since.
    refusedKeys: refused.filter(({ serverId, keyRevision }) => findKeyRevision(serverId) === keyRevision),
    globalKeyFailure: findNote<GlobalKeyFailure | null>(find, REFUSED_GLOBAL_KEY, identity) ?? null,
  };
}

function findNote<T>(find: FindSetting, name: string, identity: string): T | undefined {
  return parseNote<T>(find(name), identity);
}

/** What a note's setting says; undefined when it was saved for another `identity`. */
export function parseNote<T>(text: string | undefined, identity: string): T | undefined {
  const { by, said } = text === undefined ? {} : (JSON.parse(text) as { by?: string; said?: T });
  return by === identity ? said : undefined;
}

// The keys that the user has signed in with. Each is for one server, and one of them is shown. Every function returns a new ring.
import { createContext, useContext } from "react";
import type { ApiError } from "../../api/request.ts";
import {
  type CallerSession,
  deleteSavedCredential,
  findSavedCredential,
  type Session,
  type SignInProblem,
  saveCredential,
} from "./session.ts";

export type HeldKey = {
  readonly id: string;
  /** Undefined while the key cannot be used. */
  readonly session: Session | undefined;
  /** Why the key cannot be used. */
  readonly problem: SignInProblem | undefined;
  /** The server's name at Gatehouse; undefined for a key that was refused before it was known. */
  readonly name: string | undefined;
  /** The key itself, which is kept until the tab is closed; undefined for a person. */
  readonly saved: string | undefined;
};

export type KeyRing = { readonly keys: readonly HeldKey[]; readonly shownId: string | undefined };

export const EMPTY_RING: KeyRing = { keys: [], shownId: undefined };
export const HELD_KEYS_MAX = 20;

let idCount = 0;

export function holdSession(session: Session, saved: string | undefined): HeldKey {
  const name = session.kind === "caller" ? session.ownKey.server_name : undefined;
  return { id: `held-${++idCount}`, session, problem: undefined, name, saved };
}

export function holdProblem(problem: SignInProblem, saved: string | undefined): HeldKey {
  return { id: `held-${++idCount}`, session: undefined, problem, name: undefined, saved };
}

/** The first key that can be used is shown. */
export function openRing(keys: readonly HeldKey[]): KeyRing {
  return { keys, shownId: findUsable(keys)?.id };
}

/** Adds the key and shows it. It replaces an earlier sign-in with the same key. */
export function addKey(ring: KeyRing, added: HeldKey): KeyRing {
  const keyId = keyIdOf(added);
  const earlier = ring.keys.find((held) => keyId !== undefined && keyIdOf(held) === keyId);
  if (!earlier) return { keys: [...ring.keys, added], shownId: added.id };
  const merged = { ...added, id: earlier.id, saved: added.saved ?? earlier.saved };
  return { keys: replace(ring.keys, merged), shownId: earlier.id };
}

/** After the shown key is removed, the first one that can be used is shown. */
export function removeKey(ring: KeyRing, id: string): KeyRing {
  const keys = ring.keys.filter((held) => held.id !== id);
  return { keys, shownId: ring.shownId === id ? findUsable(keys)?.id : ring.shownId };
}

export function showKey(ring: KeyRing, id: string): KeyRing {
  return findHeld(ring, id)?.session ? { ...ring, shownId: id } : ring;
}

/** The key stays in the ring, so that the user sees why it was refused. If it was shown, the first usable one is shown. */
export function refuseKey(ring: KeyRing, id: string, problem: SignInProblem): KeyRing {
  const held = findHeld(ring, id);
  if (!held) return ring;
  const keys = replace(ring.keys, { ...held, session: undefined, problem });
  return { keys, shownId: ring.shownId === id ? findUsable(keys)?.id : ring.shownId };
}

/** Puts the outcome of another sign-in in the place of the held key. */
export function replaceKey(ring: KeyRing, id: string, { session, problem, name }: HeldKey): KeyRing {
  const held = findHeld(ring, id);
  if (!held) return ring;
  const keys = replace(ring.keys, { ...held, session, problem, name: name ?? held.name });
  return { keys, shownId: ring.shownId ?? findUsable(keys)?.id };
}

export function findShown({ keys, shownId }: KeyRing): HeldKey | undefined {
  return keys.find(({ id }) => id === shownId);
}

/** The keys to keep until the tab is closed, the shown one first, so that a reload shows the same server. */
export function listKeysToSave(ring: KeyRing): readonly string[] {
  const shown = findShown(ring);
  const others = ring.keys.filter((held) => held !== shown);
  return [...(shown ? [shown] : []), ...others].flatMap(({ saved }) => saved ?? []);
}

function findHeld({ keys }: KeyRing, id: string): HeldKey | undefined {
  return keys.find((held) => held.id === id);
}

function findUsable(keys: readonly HeldKey[]): HeldKey | undefined {
  return keys.find(({ session }) => session !== undefined);
}

function replace(keys: readonly HeldKey[], replacement: HeldKey): readonly HeldKey[] {
  return keys.map((held) => (held.id === replacement.id ? replacement : held));
}

function keyIdOf({ session }: HeldKey): string | undefined {
  return session?.kind === "caller" ? session.ownKey.key_id : undefined;
}

export type KeyRingValue = {
  readonly ring: KeyRing;
  /** Shows the server of another key. */
  readonly show: (id: string) => void;
  /** Adds a key and shows its server. `saved` is the key itself. */
  readonly add: (session: CallerSession, saved: string) => void;
  /** Signs out of the key's server only; with the last usable key, of all. */
  readonly remove: (id: string) => void;
  /** Gatehouse refuses the key from now on. */
  readonly refuse: (id: string, error: ApiError) => void;
  /** Signs in again with a saved key that could not be used. */
  readonly retry: (id: string) => Promise<void>;
};

export const KeyRingContext = createContext<KeyRingValue | undefined>(undefined);

export function useKeyRing(): KeyRingValue {
  const value = useContext(KeyRingContext);
  if (!value) throw new Error("there is no KeyRingContext around this component");
  return value;
}

/** No key has it: a header holds visible characters only. */
const SEPARATOR = "\n";

export function listSavedKeys(): readonly string[] {
  return findSavedCredential()?.split(SEPARATOR) ?? [];
}

export function saveKeys(keys: readonly string[]): void {
  if (keys.length === 0) deleteSavedCredential();
  else saveCredential(keys.join(SEPARATOR));
}

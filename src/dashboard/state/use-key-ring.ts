// The keys of the user for components, and what can be done with them.
import { createContext, useContext } from "react";
import type { ApiError } from "../api/request.ts";
import type { KeyRing } from "./key-ring.ts";
import type { CallerSession } from "./session.ts";

export type KeyRingValue = {
  readonly ring: KeyRing;
  /** Shows the server of another key. */
  readonly show: (id: string) => void;
  /** Adds a key and shows its server. With `saved` it is kept until the tab is closed. */
  readonly add: (session: CallerSession, saved: string | undefined) => void;
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

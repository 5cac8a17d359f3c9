// Where in the page the reader is: the part of the address after #. It names a view, never a key.
import { useSyncExternalStore } from "react";

export function useRoute(): string {
  return useSyncExternalStore(subscribe, readRoute);
}

export function hrefOf(view: string): string {
  return `#/${view}`;
}

export function goTo(view: string): void {
  location.hash = hrefOf(view);
}

function readRoute(): string {
  return location.hash.replace(/^#\/?/, "");
}

function subscribe(tell: () => void): () => void {
  addEventListener("hashchange", tell);
  return () => removeEventListener("hashchange", tell);
}

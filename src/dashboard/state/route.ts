// The open view: the part of the URL after #. It names a view and never holds a key.
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

function subscribe(onChange: () => void): () => void {
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}

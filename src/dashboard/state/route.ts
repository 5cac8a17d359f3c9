// The open view: the part of the URL after #. It names a view, and for operators a server, and never holds a key. Parameters
// may follow after a question mark; they are not part of the route.
import { createContext, useContext, useSyncExternalStore } from "react";

/** The first part of the route of every view below it; empty for the views of a key and of an operator. */
export const RouteBaseContext = createContext("");

export function useRoute(): string {
  return useSyncExternalStore(subscribe, readRoute);
}

export function hrefOf(view: string): string {
  return `#/${view}`;
}

/** The base of the views of one server, which operators open without a key of it. */
export function serverBase(serverId: string): string {
  return `servers/${serverId}/`;
}

/** The server whose views the route names. */
export function findServerId(route: string): string | undefined {
  return /^servers\/([\w-]+)\//.exec(route)?.[1];
}

/** Makes links to other views of the same server. */
export function useViewHref(): (view: string) => string {
  const base = useContext(RouteBaseContext);
  return (view) => hrefOf(base + view);
}

/** What the route has after the name of the view: `123` in `activity/123`. */
export function useRouteId(view: string): string | undefined {
  const base = useContext(RouteBaseContext);
  const route = useRoute();
  const start = `${base}${view}/`;
  return route.startsWith(start) ? route.slice(start.length) : undefined;
}

/** A parameter after the route; undefined when it is not there. */
export function useRouteParameter(name: string): string | undefined {
  return useSyncExternalStore(subscribe, () => readRouteParameter(name));
}

export function readRouteParameter(name: string): string | undefined {
  const [, parameters = ""] = location.hash.split("?", 2);
  return new URLSearchParams(parameters).get(name) ?? undefined;
}

/** Removes the parameters from the address, without a new entry in the history. */
export function dropRouteParameters(): void {
  history.replaceState(null, "", hrefOf(readRoute()));
  notifyRoute();
}

/** To be called after the address was changed without the browser's own event. */
export function notifyRoute(): void {
  dispatchEvent(new Event("hashchange"));
}

export function readRoute(): string {
  return location.hash.replace(/^#\/?/, "").replace(/\?.*$/s, "");
}

function subscribe(onChange: () => void): () => void {
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}

// The cookies of people: the session, and the state of a sign-in with the chat platform. Only paths under /session take them.
import type { Call } from "../call.ts";

/** The session's: for requests of our own page only. */
export const SESSION_COOKIE = { name: "gatehouse_session", attributes: "Path=/session; HttpOnly; SameSite=Strict" };
/** The chat state's: the browser must send it when another page sends it back to us. */
export const CHAT_COOKIE = { name: "gatehouse_chat", attributes: "Path=/session/chat; HttpOnly; SameSite=Lax" };

export type CookieKind = typeof SESSION_COOKIE;

/** Over TLS: browsers take a cookie with this prefix only over TLS, so nobody on the network can plant one. */
const SECURE_PREFIX = "__Secure-";
/** Longer headers are not parsed. */
export const COOKIE_LENGTH_MAX = 8_192;

/** Undefined when there is none. More than one could be planted by somebody else, so then none counts. */
export function readCookie({ request }: Call, kind: CookieKind, isSecure: boolean): string | undefined {
  const header = request.headers.get("cookie") ?? "";
  if (header.length > COOKIE_LENGTH_MAX) return undefined;
  const start = `${nameOf(kind, isSecure)}=`;
  const found = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  return found.length === 1 ? found[0]?.slice(start.length) : undefined;
}

/** Without `maxAgeSeconds` it goes with the browser. */
export function writeCookie(kind: CookieKind, isSecure: boolean, value: string, maxAgeSeconds?: number): string {
  const age = maxAgeSeconds === undefined ? "" : `; Max-Age=${maxAgeSeconds}`;
  return `${nameOf(kind, isSecure)}=${value}; ${kind.attributes}${isSecure ? "; Secure" : ""}${age}`;
}

export function clearCookie(kind: CookieKind, isSecure: boolean): string {
  return writeCookie(kind, isSecure, "", 0);
}

function nameOf({ name }: CookieKind, isSecure: boolean): string {
  return isSecure ? SECURE_PREFIX + name : name;
}

/** By the page's own address, which has been checked: it tells what the browser sees, also behind a proxy that is not trusted. */
export function isSecurePage(call: Call): boolean {
  return call.request.headers.get("origin")?.startsWith("https://") ?? false;
}

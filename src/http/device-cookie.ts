// The cookie of a signed-in device. Only the routes under /session read it.
import type { Call } from "./call.ts";

const NAME = "gatehouse_device";
/** Over TLS: browsers take a cookie with this prefix only over TLS, so nobody on the network can plant one. */
const SECURE_NAME = `__Secure-${NAME}`;
const ATTRIBUTES = "Path=/session; HttpOnly; SameSite=Strict";
/** Longer headers are not parsed. */
export const COOKIE_LENGTH_MAX = 8_192;

/** Undefined when there is none. More than one could be planted by somebody else, so then none counts. */
export function readDeviceCookie(call: Call): string | undefined {
  const header = call.request.headers.get("cookie") ?? "";
  if (header.length > COOKIE_LENGTH_MAX) return undefined;
  const start = `${nameFor(call)}=`;
  const found = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  return found.length === 1 ? found[0]?.slice(start.length) : undefined;
}

/** Without `maxAgeSeconds` it goes with the browser. */
export function writeDeviceCookie(call: Call, secret: string, maxAgeSeconds?: number): string {
  const age = maxAgeSeconds === undefined ? "" : `; Max-Age=${maxAgeSeconds}`;
  return `${nameFor(call)}=${secret}; ${ATTRIBUTES}${isSecure(call) ? "; Secure" : ""}${age}`;
}

export function clearDeviceCookie(call: Call): string {
  return writeDeviceCookie(call, "", 0);
}

function nameFor(call: Call): string {
  return isSecure(call) ? SECURE_NAME : NAME;
}

/** By the page's own address, which has been checked: it tells what the browser sees, also behind a proxy that is not trusted. */
function isSecure(call: Call): boolean {
  return call.request.headers.get("origin")?.startsWith("https://") ?? false;
}

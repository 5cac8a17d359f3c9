// Requests with a path or a method that may lead to another operation, or to none.
import type { Random } from "../../../src/simulator/random.ts";
import type { FuzzedRequest } from "./fuzzed-request.ts";
import { hostileText, letters } from "./values.ts";
import type { World } from "./world.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];
const HARMLESS_METHODS = METHODS.filter((method) => method !== "DELETE");
const UNKNOWN_PATHS = [
  "/v3",
  "/v2",
  "/v2/game",
  "/admin",
  "/admin/",
  "/status",
  "/session/x",
  "/v10/x",
  "/wp-login.php",
];

/** With another method or path. */
export function leadAstray(random: Random, { homes }: World, request: FuzzedRequest): FuzzedRequest {
  if (random.chance(0.4)) {
    // The servers that the whole run needs must stay.
    const mustStay = homes.some(({ serverId }) => request.target.includes(serverId));
    return { ...request, method: random.pick(mustStay ? HARMLESS_METHODS : METHODS), isAstray: true };
  }
  const [path = "/", ...rest] = request.target.split("?");
  const query = rest.length > 0 ? `?${rest.join("?")}` : "";
  const target = random.pick([
    () => `${path}/${query}`,
    () => `/${path}${query}`,
    () => random.pick(UNKNOWN_PATHS) + query,
    () => path.replace(/[^/]*$/, () => encodePath(hostileText(random))) + query,
    () => path.toUpperCase() + query,
    () => path.replace(/\/(\w)/g, (_, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`) + query,
    () => path.replace(/^\/v2/, "/v1") + query,
    () => `/${letters(random, random.integer(1, 700))}${query}`,
    () => `${path};x=1${query}`,
    () => `${path}%00${query}`,
  ])();
  return { ...request, target, isAstray: true };
}

/** Keeps what a request line can have; the rest is escaped, as clients do. */
export function encodePath(text: string): string {
  return text.replace(/[^!-"$-~]/gu, (letter) => {
    return [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  });
}

// Finds the route of a path. Does not run handlers.
import { COMMUNITY_SHAPE } from "../core/game-server.ts";
import type { Handler } from "./operation.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/**
 * A segment that begins with a colon matches any text; `:community` matches only what can be a community. In `:slug.json`
 * the text must end with `.json`, and the parameter is what comes before.
 */
export type Route = { readonly path: string } & { readonly [M in Method]?: Handler };

export type Match = {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly allow: string;
};

export const METHODS: readonly Method[] = ["GET", "POST", "PATCH", "PUT", "DELETE"];
const NO_PARAMS = Object.freeze({});
const ESCAPED_V1_LENGTH = "%76%31".length;

type Pattern = { readonly route: Route; readonly segments: readonly string[]; readonly allow: string };

export class Router {
  readonly #fixed = new Map<string, Match>();
  readonly #patterns: Pattern[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const allow = allowOf(route);
      if (route.path.includes(":")) this.#patterns.push({ route, segments: route.path.split("/"), allow });
      else this.#fixed.set(route.path, { route, params: NO_PARAMS, allow });
    }
  }

  find(path: string): Match | undefined {
    const known = this.#fixed.get(path);
    const segments = known ? undefined : decodeSegments(path);
    if (!segments) return known;
    const plain = segments.some((segment) => segment.includes("/")) ? undefined : this.#fixed.get(segments.join("/"));
    if (plain) return plain;
    for (const { route, segments: pattern, allow } of this.#patterns) {
      const params = matchSegments(pattern, segments);
      if (params) return { route, params, allow };
    }
    return undefined;
  }
}

/** Whether the path is /v1 or under it, with or without percent-encoding. /v10 and /v1x are other paths. */
export function isLegacyPath(path: string): boolean {
  const [, first = ""] = path.split("/", 2);
  if (first.length > ESCAPED_V1_LENGTH) return false;
  // Only this segment is decoded, because the rest may have invalid escapes.
  return decodeSegments(first)?.[0] === "v1";
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? "";
    if (!expected.startsWith(":")) {
      if (segment !== expected) return undefined;
    } else if (expected.includes(".")) {
      const [name = "", ending = ""] = expected.slice(1).split(/(?=\.)/);
      if (!segment.endsWith(ending) || segment === ending) return undefined;
      params[name] = segment.slice(0, -ending.length);
    } else {
      if (segment === "" || (expected === ":community" && !COMMUNITY_SHAPE.test(segment))) return undefined;
      params[expected.slice(1)] = segment;
    }
  }
  return params;
}

/** Undefined for a path that matches no route: its escapes are not UTF-8, or make a NUL, which PostgreSQL cannot search for. */
function decodeSegments(path: string): string[] | undefined {
  const segments = path.split("/");
  if (!path.includes("%")) return segments;
  try {
    const decoded = segments.map(decodeURIComponent);
    return decoded.some((segment) => segment.includes("\0")) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

function allowOf(route: Route): string {
  const methods = METHODS.filter((method) => route[method]);
  return methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}

// The paths of operators can be served on a listener of their own.
const ADMIN_PREFIX = "/admin/";
const METRICS_PATH = "/metrics";
/** No route of the admin API has more segments after its prefix. */
export const ADMIN_SEGMENTS_MAX = 6;

/**
 * Patterns of the runtime's router, which matches a path as it was sent. One for each number of segments, because the router
 * shows only those that have a name.
 */
export const OPERATOR_PATTERNS: readonly string[] = [
  METRICS_PATH,
  ...Array.from({ length: ADMIN_SEGMENTS_MAX }, (_, count) => {
    return ADMIN_PREFIX + Array.from({ length: count + 1 }, (_, index) => `:segment${index}`).join("/");
  }),
];
/** Every other path that begins like the admin API. None of them is a route. */
export const OTHER_ADMIN_PATTERN = `${ADMIN_PREFIX}*`;

export function isOperatorPath(path: string): boolean {
  return path.startsWith(ADMIN_PREFIX) || path === METRICS_PATH;
}

/** Whether the runtime makes another path of these segments: it resolves dots, encoded or not, and backslashes. */
export function isResolved(segments: Readonly<Record<string, string>>): boolean {
  return Object.values(segments).some((text) => text === "." || text === ".." || text.includes("\\"));
}

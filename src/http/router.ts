// Finds the route of a path. Does not run handlers.
import { COMMUNITY_SHAPE } from "../core/game-server.ts";
import type { Handler } from "./call.ts";

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
    const plain = segments.some((segment) => segment.includes("/"))
      ? undefined
      : this.#fixed.get(segments.join("/"));
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

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
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

/** Undefined for a path whose escapes are not UTF-8: it matches no route. */
function decodeSegments(path: string): string[] | undefined {
  const segments = path.split("/");
  if (!path.includes("%")) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function allowOf(route: Route): string {
  const methods = METHODS.filter((method) => route[method]);
  return methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}

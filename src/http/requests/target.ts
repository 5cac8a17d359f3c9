// Parses URLs into their route, path parameters and query. Results are cached.
import { type Memoized, memoize } from "../../core/memoize.ts";
import { parseSections, type SectionSet } from "../../core/sections.ts";
import type { RequestTarget } from "../call.ts";
import { isLegacyPath, type Match, type Route, Router } from "../router.ts";

const NO_PARAMS = Object.freeze({});
/** Few are enough, because callers send the same URLs again and again. */
export const TARGETS_MAX = 1_000;
/** Longer URLs are not cached. */
const CACHED_URL_LENGTH_MAX = 512;
/** No route has a longer path. Longer ones are not split and decoded, so that they cost no time. */
export const PATH_LENGTH_MAX = 512;

export class Target implements RequestTarget {
  readonly params: Readonly<Record<string, string>>;
  readonly routeName: string;
  #sections: SectionSet | undefined;

  constructor(
    readonly match: Match | undefined,
    readonly path: string,
    readonly query: string,
  ) {
    this.params = match?.params ?? NO_PARAMS;
    this.routeName = match?.route.path ?? (this.isLegacy ? "/v1" : "none");
  }

  get isLegacy(): boolean {
    return !this.match && isLegacyPath(this.path);
  }

  get sections(): SectionSet {
    this.#sections ??= parseSections(this.query);
    return this.#sections;
  }
}

export function createTargetFinder(routes: readonly Route[]): Memoized<Target> {
  const router = new Router(routes);
  return memoize(
    (url) => {
      const { path, query } = splitUrl(url);
      const match = path.length > PATH_LENGTH_MAX ? undefined : router.find(path);
      return new Target(match, path, query);
    },
    TARGETS_MAX,
    CACHED_URL_LENGTH_MAX,
  );
}

/**
 * The runtime gives an absolute URL, or only the path when the Host header is not valid; `new URL` would throw then.
 * A fragment has no meaning in a request and is dropped.
 */
export function splitUrl(url: string): { path: string; query: string } {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", "https://".length);
  if (start === -1) return { path: "", query: "" };
  const hash = url.indexOf("#", start);
  const end = hash === -1 ? url.length : hash;
  const mark = url.indexOf("?", start);
  if (mark === -1 || mark > end) return { path: url.slice(start, end), query: "" };
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}

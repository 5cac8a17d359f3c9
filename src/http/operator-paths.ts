// The paths that are for operators only: the admin API and the metrics. They can be served on a listener of their own.

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

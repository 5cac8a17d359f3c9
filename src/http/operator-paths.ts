// The paths that are for operators only: the admin API and the metrics. They can be served on a listener of their own.

const ADMIN_PREFIX = "/admin/";
const METRICS_PATH = "/metrics";

/** The same paths as patterns of the runtime's router, which matches a path as it was sent. */
export const OPERATOR_PATTERNS: readonly string[] = [`${ADMIN_PREFIX}*`, METRICS_PATH];

export function isOperatorPath(path: string): boolean {
  return path.startsWith(ADMIN_PREFIX) || path === METRICS_PATH;
}

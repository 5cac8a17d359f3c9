// The files of dist/ inside the binary, by their path in dist/. Empty in a checkout: scripts/build.ts replaces this
// file when it builds a binary.

export const EMBEDDED_FILES: ReadonlyMap<string, string> | undefined = undefined;

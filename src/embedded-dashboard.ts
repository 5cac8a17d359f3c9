// The dashboard's files inside the binary, by name. In a checkout there are none; scripts/build.ts replaces this file.

export const EMBEDDED_DASHBOARD: ReadonlyMap<string, string> | undefined = undefined;

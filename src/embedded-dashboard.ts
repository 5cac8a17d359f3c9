// Where the binary keeps the dashboard's files, by name. In a checkout there are none; scripts/build.ts puts another text
// in the place of this one.

export const EMBEDDED_DASHBOARD: ReadonlyMap<string, string> | undefined = undefined;

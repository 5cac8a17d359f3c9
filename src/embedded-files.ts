// Where the binary keeps the files of dist/, by their path in it. In a checkout there are none; scripts/build.ts puts
// another text in the place of this one.

export const EMBEDDED_FILES: ReadonlyMap<string, string> | undefined = undefined;

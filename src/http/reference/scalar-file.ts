// Where Scalar is, the program that shows the reference: one file of its npm package, also inside the binary.
import manifest from "../../../node_modules/@scalar/api-reference/package.json" with { type: "json" };

export const SCALAR_VERSION: string = manifest.version;

/** Found only when somebody asks for it: whoever never opens the page needs no such package. */
export async function findScalarPath(): Promise<string> {
  // @ts-expect-error: the package says nothing of the types of this file, and none are needed for its path.
  const file = await import("../../../node_modules/@scalar/api-reference/dist/browser/standalone.js", {
    with: { type: "file" },
  });
  return file.default as unknown as string;
}

// A Lua script and its hash, by which Redis runs it.
import prelude from "./scripts/prelude.lua" with { type: "text" };

export type Script = { readonly text: string; readonly sha: string };

export function createScript(body: string): Script {
  const text = `${prelude}\n${body}`;
  return { text, sha: Bun.SHA1.hash(text, "hex") };
}

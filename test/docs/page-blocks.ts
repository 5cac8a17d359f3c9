// Finds the code blocks of a page.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export type PageBlock = {
  /** The page and the line of the block's first line, to find it. */
  readonly place: string;
  /** The word after the backticks; empty for a block that is only indented. */
  readonly language: string;
  readonly text: string;
  /** The file that the text before the block says to save it in. */
  readonly fileName: string | undefined;
};

export const ROOT = resolve(import.meta.dir, "../..");

/** Every code block of a page, in order. */
export function listPageBlocks(page: string): PageBlock[] {
  return parseBlocks(page, readFileSync(join(ROOT, page), "utf8"));
}

export function parseBlocks(page: string, markdown: string): PageBlock[] {
  const lines = markdown.split("\n");
  const blocks: PageBlock[] = [];
  let prose = "";
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const language = /^\s*```(.*)$/.exec(line)?.[1]?.trim();
    const isIndented = /^ {4,}\S/.test(line) && (lines[index - 1] ?? "").trim() === "";
    if (language === undefined && !isIndented) {
      prose += `${line}\n`;
      continue;
    }
    const first = language === undefined ? index : index + 1;
    const isInside = (text: string | undefined) =>
      text !== undefined && (language === undefined ? /^( {4}|\s*$)/.test(text) : !/^\s*```\s*$/.test(text));
    let end = first;
    while (isInside(lines[end])) end++;
    blocks.push({
      place: `${page}:${first + 1}`,
      language: language ?? "",
      text: `${lines.slice(first, end).join("\n").trimEnd()}\n`,
      fileName: Array.from(prose.matchAll(/(?:Save\s+it\s+as|in\s+a\s+file)\s+`([^`]+)`/g)).at(-1)?.[1],
    });
    prose = "";
    index = language === undefined ? end - 1 : end;
  }
  return blocks;
}

// Questions to the person at the terminal, and the lines of standard input, which is how scripts hand over secrets. The library
// is loaded with the first question; a cancelled one ends the command.
import { readSync } from "node:fs";
import { CommandFailed } from "../exit-codes.ts";
import { escapeUnsafe } from "./safe-text.ts";

const CHOICES_SHOWN_MAX = 10;

export type Choice = { readonly value: string; readonly label: string; readonly hint?: string };

type Prompts = typeof import("@clack/prompts");

async function ask<T extends string | boolean>(put: (prompts: Prompts) => Promise<T | symbol>): Promise<T> {
  const prompts = await import("@clack/prompts");
  const answer = await put(prompts);
  if (typeof answer === "symbol") throw new CommandFailed("cancelled, nothing was changed");
  return answer;
}

export async function askText(message: string): Promise<string> {
  return (await ask<string>(({ text }) => text({ message, validate: requireText }))).trim();
}

export async function askSecret(message: string): Promise<string> {
  return (await ask<string>(({ password }) => password({ message, validate: requireText }))).trim();
}

export async function askChoice(message: string, choices: readonly Choice[]): Promise<string> {
  const options = choices.map(({ value, label, hint = "" }) => {
    return { value, label: escapeUnsafe(label), hint: escapeUnsafe(hint) };
  });
  const isLong = options.length > CHOICES_SHOWN_MAX;
  const list = { message, options, maxItems: CHOICES_SHOWN_MAX, placeholder: "type to search" };
  return await ask<string>(({ autocomplete, select }) => (isLong ? autocomplete(list) : select({ message, options })));
}

export async function askYes(message: string): Promise<boolean> {
  return await ask<boolean>(({ confirm }) => confirm({ message: escapeUnsafe(message), initialValue: false }));
}

function requireText(answer: string | undefined): string | undefined {
  return answer?.trim() ? undefined : "Please type something.";
}

const STANDARD_INPUT = 0;
const LINE_BYTES_MAX = 16_384;
const RETRY_MS = 20;

let unread = Buffer.alloc(0);

/** The next line, trimmed; empty at the end of the input. */
export function readInputLine(): string {
  const chunk = Buffer.alloc(LINE_BYTES_MAX);
  while (!unread.includes("\n") && unread.length < LINE_BYTES_MAX) {
    const size = readChunk(chunk);
    if (size === 0) break;
    unread = Buffer.concat([unread, chunk.subarray(0, size)]);
  }
  const end = unread.indexOf("\n");
  const line = end === -1 ? unread : unread.subarray(0, end);
  unread = end === -1 ? Buffer.alloc(0) : unread.subarray(end + 1);
  return line.toString("utf8").trim();
}

/** Synchronous: an asynchronous reader would keep the process alive until the other end of the pipe is closed. */
function readChunk(chunk: Buffer): number {
  while (true) {
    try {
      return readSync(STANDARD_INPUT, chunk);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(RETRY_MS);
    }
  }
}

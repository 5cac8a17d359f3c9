// Questions to the person at the terminal. The library is loaded with the first one; a cancelled question ends the command.
import { CommandFailed } from "./exit-codes.ts";
import { escapeUnsafe } from "./safe-text.ts";

const CHOICES_SHOWN_MAX = 10;

export type Choice = { readonly value: string; readonly label: string; readonly hint?: string };

export async function askText(message: string): Promise<string> {
  const { text, isCancel } = await import("@clack/prompts");
  const answer = await text({ message, validate: requireText });
  return isCancel(answer) ? cancel() : answer.trim();
}

export async function askSecret(message: string): Promise<string> {
  const { password, isCancel } = await import("@clack/prompts");
  const answer = await password({ message, validate: requireText });
  return isCancel(answer) ? cancel() : answer.trim();
}

export async function askChoice(message: string, choices: readonly Choice[]): Promise<string> {
  const { autocomplete, select, isCancel } = await import("@clack/prompts");
  const options = choices.map(({ value, label, hint }) => ({
    value,
    label: escapeUnsafe(label),
    hint: escapeUnsafe(hint ?? ""),
  }));
  const isLong = options.length > CHOICES_SHOWN_MAX;
  const answer = isLong
    ? await autocomplete({ message, options, maxItems: CHOICES_SHOWN_MAX, placeholder: "type to search" })
    : await select({ message, options });
  return isCancel(answer) ? cancel() : answer;
}

export async function askYes(message: string): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: escapeUnsafe(message), initialValue: false });
  return isCancel(answer) ? cancel() : answer;
}

function requireText(answer: string | undefined): string | undefined {
  return answer?.trim() ? undefined : "Please type something.";
}

function cancel(): never {
  throw new CommandFailed("cancelled, nothing was changed");
}

// Lists the commands and options that a shell can complete, from the program itself.
import type { Command, Option } from "commander";

/** The value of an option: one of these words, a file, a folder, or something that cannot be completed. */
export type OptionValue = readonly string[] | "file" | "folder" | "unknown";

export type CompletedOption = {
  /** The option as it is typed: ["-h", "--help"]. */
  readonly spellings: readonly string[];
  readonly description: string;
  /** Undefined for an option without a value. */
  readonly value: OptionValue | undefined;
};

export type CompletedCommand = {
  /** The words after the program's name, such as "keys create"; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** The words that its arguments can be. */
  readonly argumentWords: readonly string[];
  readonly takesFile: boolean;
};

export function listCompletedCommands(command: Command, path = ""): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const self: CompletedCommand = {
    path,
    subcommands: subcommands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: help.visibleOptions(command).map(toCompletedOption),
    argumentWords: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    takesFile: command.registeredArguments.some((argument) => argument.name() === "file"),
  };
  const below = subcommands.flatMap((sub) => listCompletedCommands(sub, `${path} ${sub.name()}`.trim()));
  return [self, ...below];
}

function toCompletedOption(option: Option): CompletedOption {
  const spellings = [option.short, option.long].filter((spelling) => spelling !== undefined);
  return { spellings, description: option.description, value: findValue(option) };
}

function findValue(option: Option): OptionValue | undefined {
  if (!option.required && !option.optional) return undefined;
  if (option.argChoices) return option.argChoices;
  if (option.flags.endsWith("<file>")) return "file";
  if (option.flags.endsWith("<folder>")) return "folder";
  return "unknown";
}

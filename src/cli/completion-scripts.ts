// Writes the completion scripts. Each follows the typed words to a command, skips the values of options, and offers what
// can come next. No script runs the program.
import type { CompletedCommand, CompletedOption, OptionValue } from "./completion-tree.ts";

export function writeBashScript(commands: readonly CompletedCommand[]): string {
  return `# gatehouse completion for bash
_gatehouse() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at="" value="" names="" options="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ -n $value ]]; then value=""; continue; fi
    case "$at|\${COMP_WORDS[i]}" in
${indent(6, writeSteps(commands))}
    esac
  done
  if [[ -z $value && $cur != -* ]]; then
    case $at in
${indent(6, writeFileArms(commands))}
    esac
  fi
  COMPREPLY=()
  case $value in
    "") ;;
    file | folder)
      compopt -o filenames 2> /dev/null
      local IFS=$'\\n'
      if [[ $value == file ]]; then COMPREPLY=($(compgen -f -- "$cur")); else COMPREPLY=($(compgen -d -- "$cur")); fi
      return ;;
    unknown) return ;;
    *) COMPREPLY=($(compgen -W "$value" -- "$cur")); return ;;
  esac
  case $at in
${indent(
  4,
  commands.map(
    (command) =>
      `${quote(command.path)}) names=${quote(namesOf(command).join(" "))} options=${quote(spellingsOf(command).join(" "))} ;;`,
  ),
)}
  esac
  if [[ $cur == -* || -z $names ]]; then names=$options; fi
  COMPREPLY=($(compgen -W "$names" -- "$cur"))
}
complete -F _gatehouse gatehouse
`;
}

export function writeZshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef gatehouse
# gatehouse completion for zsh
_gatehouse() {
  local at="" value="" i
  local -a names options
  for ((i = 2; i < CURRENT; i++)); do
    if [[ -n $value ]]; then value=""; continue; fi
    case "$at|\${words[i]}" in
${indent(6, writeSteps(commands))}
    esac
  done
  if [[ -z $value && \${words[CURRENT]} != -* ]]; then
    case $at in
${indent(6, writeFileArms(commands))}
    esac
  fi
  case $value in
    "") ;;
    file) _files; return ;;
    folder) _files -/; return ;;
    unknown) return ;;
    *) compadd -- \${=value}; return ;;
  esac
  case $at in
${indent(4, commands.flatMap(writeZshCase))}
  esac
  if [[ \${words[CURRENT]} == -* || \${#names} -eq 0 ]]; then
    _describe -o option options
  else
    _describe command names
  fi
}
if [[ \${funcstack[1]} == _gatehouse ]]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`;
}

export function writeFishScript(commands: readonly CompletedCommand[]): string {
  return `# gatehouse completion for fish
function __gatehouse_at
    set -l at ""
    set -l value ""
    set -l words (commandline -opc)
    for word in $words[2..]
        if test -n "$value"
            set value ""
            continue
        end
        switch "$at|$word"
${indent(12, writeFishSteps(commands))}
        end
    end
    test "$at" = "$argv[1]"
end
complete -c gatehouse -f
${commands.flatMap(writeFishLines).join("\n")}
`;
}

/** The arms of a bash or zsh case over "command so far|next word". */
function writeSteps(commands: readonly CompletedCommand[]): string[] {
  return commands.flatMap((command) => [
    ...command.subcommands.map(
      ({ name }) => `${quote(`${command.path}|${name}`)}) at=${quote(`${command.path} ${name}`.trim())} ;;`,
    ),
    ...command.options.flatMap(({ spellings, value }) =>
      value === undefined
        ? []
        : spellings.map(
            (spelling) => `${quote(`${command.path}|${spelling}`)}) value=${quote(toWords(value))} ;;`,
          ),
    ),
  ]);
}

/** The arms for commands whose argument is a file. */
function writeFileArms(commands: readonly CompletedCommand[]): string[] {
  return commands.filter(({ takesFile }) => takesFile).map(({ path }) => `${quote(path)}) value=file ;;`);
}

function writeZshCase(command: CompletedCommand): string[] {
  const describe = (name: string, description: string) => quote(`${name}:${description}`);
  const names = [
    ...command.subcommands.map(({ name, description }) => describe(name, description)),
    ...command.argumentWords.map((word) => quote(word)),
  ];
  const options = command.options.flatMap(({ spellings, description }) =>
    spellings.map((spelling) => describe(spelling, description)),
  );
  return [
    `${quote(command.path)})`,
    `  names=(${names.join(" ")})`,
    "  options=(",
    ...options.map((option) => `    ${option}`),
    "  ) ;;",
  ];
}

function writeFishSteps(commands: readonly CompletedCommand[]): string[] {
  return commands.flatMap((command) => [
    ...command.subcommands.flatMap(({ name }) => [
      `case ${quoteForFish(`${command.path}|${name}`)}`,
      `    set at ${quoteForFish(`${command.path} ${name}`.trim())}`,
    ]),
    ...command.options.flatMap(({ spellings, value }) =>
      value === undefined
        ? []
        : spellings.flatMap((spelling) => [
            `case ${quoteForFish(`${command.path}|${spelling}`)}`,
            `    set value ${quoteForFish(toWords(value))}`,
          ]),
    ),
  ]);
}

function writeFishLines(command: CompletedCommand): string[] {
  const start = `complete -c gatehouse -n ${quoteForFish(`__gatehouse_at ${quoteForFish(command.path)}`)}`;
  return [
    ...command.subcommands.map(
      ({ name, description }) => `${start} -a ${name} -d ${quoteForFish(description)}`,
    ),
    ...command.argumentWords.map((word) => `${start} -a ${quoteForFish(word)}`),
    ...(command.takesFile ? [`${start} -F`] : []),
    ...command.options.map((option) => `${start} ${writeFishOption(option)}`),
  ];
}

function writeFishOption({ spellings, description, value }: CompletedOption): string {
  const names = spellings.map((spelling) =>
    spelling.startsWith("--") ? `-l ${spelling.slice(2)}` : `-s ${spelling.slice(1)}`,
  );
  const follows =
    value === undefined
      ? []
      : value === "file"
        ? ["-r -F"]
        : value === "folder"
          ? [`-x -a ${quoteForFish("(__fish_complete_directories)")}`]
          : value === "unknown"
            ? ["-x"]
            : [`-x -a ${quoteForFish(value.join(" "))}`];
  return [...names, ...follows, "-d", quoteForFish(description)].join(" ");
}

function namesOf({ subcommands, argumentWords }: CompletedCommand): string[] {
  return [...subcommands.map(({ name }) => name), ...argumentWords];
}

function spellingsOf({ options }: CompletedCommand): string[] {
  return options.flatMap(({ spellings }) => spellings);
}

function toWords(value: OptionValue): string {
  return typeof value === "string" ? value : value.join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function indent(spaces: number, lines: readonly string[]): string {
  return lines.map((line) => `${" ".repeat(spaces)}${line}`).join("\n");
}

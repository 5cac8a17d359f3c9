// gatehouse completion: prints a script with which a shell completes commands and options. The script asks the program
// what can come next, with the hidden command `offer`. Written by hand, because libraries do not complete files.
import { Argument, Command } from "commander";

/** Instead of words: the shell completes paths itself. */
const [FILE, FOLDER] = ["<file>", "<folder>"];

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# gatehouse completion for bash
_gatehouse() {
  local IFS=$'\\n' cur=\${COMP_WORDS[COMP_CWORD]} offers
  offers=($("\${COMP_WORDS[0]}" offer -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
  case \${offers[0]} in
    '${FILE}') compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    '${FOLDER}') compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "\${offers[*]%%$'\\t'*}" -- "$cur")) ;;
  esac
}
complete -F _gatehouse gatehouse
`,
  zsh: `#compdef gatehouse
# gatehouse completion for zsh
_gatehouse() {
  local -a offers
  offers=("\${(@f)$("\${words[1]}" offer -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  offers=("\${(@)offers/$'\\t'/:}")
  case \${offers[1]} in
    '') return ;;
    '${FILE}') _files ;;
    '${FOLDER}') _files -/ ;;
    *) _describe gatehouse offers ;;
  esac
}
if [[ \${funcstack[1]} == _gatehouse ]]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`,
  fish: `# gatehouse completion for fish
function __gatehouse_offers
    set -l words (commandline -opc) (commandline -ct)
    set -l offers ($words[1] offer -- $words[2..] 2> /dev/null)
    switch "$offers[1]"
        case '${FILE}'
            __fish_complete_path (commandline -ct)
        case '${FOLDER}'
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\\n' $offers
    end
end
complete -c gatehouse -f -a '(__gatehouse_offers)'
`,
};

export function createCompletionCommand(): Command {
  return new Command("completion")
    .description("print a completion script for bash, zsh or fish")
    .addArgument(new Argument("<shell>", "the shell to write for").choices(Object.keys(SCRIPTS)))
    .addHelpText(
      "after",
      `
To install:
  bash  gatehouse completion bash > ~/.local/share/bash-completion/completions/gatehouse
        (needs the bash-completion package; or put  eval "$(gatehouse completion bash)"  into ~/.bashrc)
  zsh   gatehouse completion zsh > "\${fpath[1]}/_gatehouse"
        (or put  eval "$(gatehouse completion zsh)"  into ~/.zshrc, after compinit)
  fish  gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish`,
    )
    .option("--json", "print the script as one JSON line")
    .action((shell: string, { json }: { json?: boolean }) => {
      const script = SCRIPTS[shell] ?? "";
      process.stdout.write(json ? `${JSON.stringify({ shell, script })}\n` : script);
    });
}

/** For the scripts: prints what the last of the words can be, a line for each, with its description after a tab. */
export function createOfferCommand(): Command {
  return new Command("offer").argument("[words...]").action((words: string[], _, command: Command) => {
    for (const offer of listOffers(command.parent ?? command, words)) process.stdout.write(`${offer.join("\t")}\n`);
  });
}

/** Follows the words to a command, skipping the values of options. */
function listOffers(program: Command, words: readonly string[]): readonly (readonly string[])[] {
  const help = program.createHelp();
  const current = words.at(-1) ?? "";
  let command = program;
  let flags: string | undefined;
  let choices: readonly string[] | undefined;
  for (const word of words.slice(0, -1)) {
    const isValue = flags !== undefined;
    const option = isValue
      ? undefined
      : help.visibleOptions(command).find(({ short, long }) => [short, long].includes(word));
    [flags, choices] = option && (option.required || option.optional) ? [option.flags, option.argChoices] : [];
    if (!isValue) command = help.visibleCommands(command).find((each) => each.name() === word) ?? command;
  }
  if (flags !== undefined) return choices?.map((choice) => [choice]) ?? listPaths(flags);
  const { registeredArguments: args } = command;
  if (!current.startsWith("-")) {
    if (args.some((argument) => argument.name() === "file")) return [[FILE]];
    const subcommands = help.visibleCommands(command).map((each) => [each.name(), each.description()]);
    const offers = [...subcommands, ...args.flatMap((argument) => argument.argChoices ?? []).map((word) => [word])];
    if (offers.length > 0) return offers;
  }
  return help.visibleOptions(command).flatMap(({ short, long, description }) => {
    return [short, long].flatMap((spelling) => (spelling === undefined ? [] : [[spelling, description]]));
  });
}

function listPaths(flags: string): readonly (readonly string[])[] {
  return [FILE, FOLDER].filter((path) => flags.endsWith(path)).map((path) => [path]);
}

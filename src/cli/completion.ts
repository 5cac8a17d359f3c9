// gatehouse completion: prints a script with which a shell completes the commands and options of this program.
import { Argument, Command } from "commander";
import { writeBashScript, writeFishScript, writeZshScript } from "./completion-scripts.ts";
import { listCompletedCommands } from "./completion-tree.ts";

const WRITERS = { bash: writeBashScript, zsh: writeZshScript, fish: writeFishScript };

export function createCompletionCommand(): Command {
  return new Command("completion")
    .description("print a completion script for bash, zsh or fish")
    .addArgument(new Argument("<shell>", "the shell to write for").choices(Object.keys(WRITERS)))
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
    .action((shell: keyof typeof WRITERS, { json }: { json?: boolean }, command: Command) => {
      const script = WRITERS[shell](listCompletedCommands(command.parent ?? command));
      process.stdout.write(json ? `${JSON.stringify({ shell, script })}\n` : script);
    });
}

// The gatehouse command: runs a subcommand and turns a refusal into an exit code.
import { Command, CommanderError } from "commander";
import { CommandFailed, EXIT_CODES } from "./cli/exit-codes.ts";
import { createServeCommand } from "./cli/machine/serve.ts";
import { StartRefused } from "./core/errors.ts";
import { VERSION } from "./instance/version.ts";

const program = new Command("gatehouse")
  .description("A gateway between one busy game API and everyone who wants to know about a game server.")
  .version(VERSION)
  .addCommand(createServeCommand());
// They take as long to load as a sixth of a start.
if (process.argv[2] !== "serve") (await import("./cli/other-commands.ts")).addOtherCommands(program);

reportMistakes(program);

/** They go on when the reader of their lines has closed the pipe. For other commands nobody is left to write to, as in `| head`. */
const SERVICES = ["serve", "simulate", "sandbox"];
program.hook("preAction", (_, command) => {
  process.stdout.on("error", () => SERVICES.includes(command.name()) || process.exit(EXIT_CODES.failed));
});

try {
  await program.parseAsync();
} catch (error) {
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.refused);
  if (!(error instanceof StartRefused || error instanceof CommandFailed)) throw error;
  process.stderr.write(`gatehouse: ${error.message}\n`);
  process.exit(error.exitCode);
}

/** Makes all commands answer wrong arguments the same way: with a hint and the exit code for wrong usage. */
function reportMistakes(command: Command): void {
  command.exitOverride().showHelpAfterError("(add --help for the options)");
  for (const subcommand of command.commands) reportMistakes(subcommand);
}

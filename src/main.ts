// The gatehouse command: hands the arguments to one of its subcommands and turns a refusal into an exit code.
import { Command } from "commander";
import { createServeCommand } from "./cli/serve.ts";
import { createSimulateCommand } from "./cli/simulate.ts";
import { StartRefused } from "./core/errors.ts";
import { VERSION } from "./version.ts";

const program = new Command("gatehouse")
  .description("A gateway between one busy game API and everyone who wants to know about a game server.")
  .version(VERSION)
  .showHelpAfterError("(add --help for the options)")
  .addCommand(createServeCommand())
  .addCommand(createSimulateCommand());

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof StartRefused)) throw error;
  process.stderr.write(`gatehouse: ${error.message}\n`);
  process.exit(error.exitCode);
}

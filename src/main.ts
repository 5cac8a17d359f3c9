// The gatehouse command: runs a subcommand and turns a refusal into an exit code.
import { Command, CommanderError } from "commander";
import { CommandFailed, EXIT_CODES } from "./cli/exit-codes.ts";
import { createBackupCommand, createRestoreCommand } from "./cli/machine/backup.ts";
import { createCompletionCommand, createOfferCommand } from "./cli/machine/completion.ts";
import { createDoctorCommand } from "./cli/machine/doctor.ts";
import { createMigrateCommand } from "./cli/machine/migrate.ts";
import { createSandboxCommand } from "./cli/machine/sandbox.ts";
import { createServeCommand } from "./cli/machine/serve.ts";
import { createSimulateCommand } from "./cli/machine/simulate.ts";
import { createAlertsCommand } from "./cli/resources/alerts.ts";
import { createAuditCommand } from "./cli/resources/audit.ts";
import { createBlocksCommand } from "./cli/resources/blocks.ts";
import { createCommandsCommand } from "./cli/resources/commands.ts";
import { createEventsCommand } from "./cli/resources/events.ts";
import { createHistoryCommand } from "./cli/resources/history.ts";
import { createKeysCommand } from "./cli/resources/keys.ts";
import { createPeopleCommand } from "./cli/resources/people.ts";
import { createPlayersCommand } from "./cli/resources/players.ts";
import { createRolesCommand } from "./cli/resources/roles.ts";
import { createServersCommand } from "./cli/resources/servers.ts";
import { createUpstreamCommand } from "./cli/resources/upstream.ts";
import { createWebhooksCommand } from "./cli/resources/webhooks.ts";
import { StartRefused } from "./core/errors.ts";
import { VERSION } from "./instance/version.ts";

const program = new Command("gatehouse")
  .description("A gateway between one busy game API and everyone who wants to know about a game server.")
  .version(VERSION)
  .addCommand(createServeCommand())
  .addCommand(createSimulateCommand())
  .addCommand(createSandboxCommand())
  .addCommand(createServersCommand())
  .addCommand(createPeopleCommand())
  .addCommand(createRolesCommand())
  .addCommand(createKeysCommand())
  .addCommand(createBlocksCommand())
  .addCommand(createCommandsCommand())
  .addCommand(createEventsCommand())
  .addCommand(createHistoryCommand())
  .addCommand(createWebhooksCommand())
  .addCommand(createAlertsCommand())
  .addCommand(createPlayersCommand())
  .addCommand(createUpstreamCommand())
  .addCommand(createAuditCommand())
  .addCommand(createDoctorCommand())
  .addCommand(createBackupCommand())
  .addCommand(createRestoreCommand())
  .addCommand(createMigrateCommand())
  .addCommand(createCompletionCommand())
  .addCommand(createOfferCommand(), { hidden: true });

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

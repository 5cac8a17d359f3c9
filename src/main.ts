// The gatehouse command: runs a subcommand and turns a refusal into an exit code.
import { Command, CommanderError } from "commander";
import { createAlertsCommand } from "./cli/alerts.ts";
import { createAuditCommand } from "./cli/audit.ts";
import { createBackupCommand } from "./cli/backup.ts";
import { createBlocksCommand } from "./cli/blocks.ts";
import { createCommandsCommand } from "./cli/commands.ts";
import { createCompletionCommand } from "./cli/completion.ts";
import { createDoctorCommand } from "./cli/doctor.ts";
import { createEventsCommand } from "./cli/events.ts";
import { CommandFailed, EXIT_CODES } from "./cli/exit-codes.ts";
import { createHistoryCommand } from "./cli/history.ts";
import { createKeysCommand } from "./cli/keys.ts";
import { createMigrateCommand } from "./cli/migrate.ts";
import { createPlayersCommand } from "./cli/players.ts";
import { createRestoreCommand } from "./cli/restore.ts";
import { createServeCommand } from "./cli/serve.ts";
import { createServersCommand } from "./cli/servers.ts";
import { createSignRecordsCommand } from "./cli/sign-records.ts";
import { createSimulateCommand } from "./cli/simulate.ts";
import { createUpstreamCommand } from "./cli/upstream.ts";
import { createWebhooksCommand } from "./cli/webhooks.ts";
import { StartRefused } from "./core/errors.ts";
import { VERSION } from "./version.ts";

const program = new Command("gatehouse")
  .description("A gateway between one busy game API and everyone who wants to know about a game server.")
  .version(VERSION)
  .addCommand(createServeCommand())
  .addCommand(createSimulateCommand())
  .addCommand(createServersCommand())
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
  .addCommand(createSignRecordsCommand())
  .addCommand(createCompletionCommand());

reportMistakes(program);

try {
  await program.parseAsync();
} catch (error) {
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError)
    process.exit(error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.refused);
  if (!(error instanceof StartRefused || error instanceof CommandFailed)) throw error;
  process.stderr.write(`gatehouse: ${error.message}\n`);
  process.exit(error.exitCode);
}

/** Makes all commands answer wrong arguments the same way: with a hint and the exit code for wrong usage. */
function reportMistakes(command: Command): void {
  command.exitOverride().showHelpAfterError("(add --help for the options)");
  for (const subcommand of command.commands) reportMistakes(subcommand);
}

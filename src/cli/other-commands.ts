// All commands but `serve`, which is loaded without them so that it starts faster.
import type { Command } from "commander";
import { createBackupCommand, createRestoreCommand } from "./machine/backup.ts";
import { createCompletionCommand, createOfferCommand } from "./machine/completion.ts";
import { createDoctorCommand } from "./machine/doctor.ts";
import { createMigrateCommand } from "./machine/migrate.ts";
import { createSandboxCommand } from "./machine/sandbox.ts";
import { createSimulateCommand } from "./machine/simulate.ts";
import { createAlertsCommand } from "./resources/alerts.ts";
import { createAuditCommand } from "./resources/audit.ts";
import { createBlocksCommand } from "./resources/blocks.ts";
import { createCommandsCommand } from "./resources/commands.ts";
import { createEventsCommand } from "./resources/events.ts";
import { createHistoryCommand } from "./resources/history.ts";
import { createKeysCommand } from "./resources/keys.ts";
import { createPeopleCommand } from "./resources/people.ts";
import { createPlayersCommand } from "./resources/players.ts";
import { createRolesCommand } from "./resources/roles.ts";
import { createServersCommand } from "./resources/servers.ts";
import { createUpstreamCommand } from "./resources/upstream.ts";
import { createWebhooksCommand } from "./resources/webhooks.ts";

export function addOtherCommands(program: Command): void {
  program
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
}

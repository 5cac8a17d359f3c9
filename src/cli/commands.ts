// gatehouse commands: what waits to be sent to the game, and what became of what was sent.
import { Command, Option } from "commander";
import { COMMAND_STATUSES, type CommandStatus } from "../core/command.ts";
import type { OwnedCommandResource } from "../core/wire/command.ts";
import { getServerId } from "./find-server.ts";
import type { Cell, Colour } from "./page.ts";
import {
  addSessionOptions,
  askAndShow,
  listAndShow,
  openSession,
  parseLimit,
  ROWS_UNLESS_ASKED,
  type SessionOptions,
} from "./session.ts";
import { formatMoment } from "./times.ts";

const COLOUR_OF_STATUS: Readonly<Partial<Record<CommandStatus, Colour>>> = {
  sent: "green",
  failed: "red",
  unknown: "yellow",
  expired: "yellow",
};

export function createCommandsCommand(): Command {
  const list = new Command("list")
    .description("list commands, newest first")
    .option("--server <server>", "only those of this server (id or name)")
    .addOption(new Option("--status <status>", "only those in this state").choices(COMMAND_STATUSES))
    .option("--limit <number>", `stop after so many (tables: ${ROWS_UNLESS_ASKED}, --json: all)`, parseLimit)
    .action(listCommands);
  const show = new Command("show")
    .description("show one command and its answer")
    .argument("<command_id>", "id of the command")
    .action(showCommand);
  const cancel = new Command("cancel")
    .description("take back a command that still waits")
    .argument("<command_id>", "id of the command")
    .action(cancelCommand);
  const commands = new Command("commands").description("look at the commands to the game servers");
  for (const command of [list, show, cancel]) commands.addCommand(addSessionOptions(command));
  return commands;
}

type ListOptions = SessionOptions & {
  readonly server?: string;
  readonly status?: string;
  readonly limit?: number;
};

async function listCommands(options: ListOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = options.server === undefined ? undefined : await getServerId(session, options.server);
  const question = { path: ["commands"], query: { server_id: serverId, status: options.status } };
  const limit = options.limit ?? (session.wantsJson ? undefined : ROWS_UNLESS_ASKED);
  await listAndShow<OwnedCommandResource>(session, question, limit, async ({ items }) => {
    if (items.length === 0) return session.page.printLine("no commands");
    await session.page.printTable(
      [
        { title: "COMMAND ID", isWhole: true },
        { title: "STATUS" },
        { title: "QUEUED" },
        { title: "SERVER" },
        { title: "COMMAND" },
      ],
      items.map((command) => [
        command.command_id,
        describeStatus(command),
        formatMoment(command.queued_at),
        command.server_id,
        command.command,
      ]),
    );
  });
}

async function cancelCommand(commandId: string, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  await askAndShow(session, { ...questionAbout(commandId), method: "DELETE" }, () =>
    session.page.printLine(`${commandId} is cancelled`),
  );
}

function questionAbout(commandId: string) {
  const absent = `there is no command ${commandId}: gatehouse commands list shows them`;
  return { path: ["commands", commandId], absent };
}

async function showCommand(commandId: string, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  await askAndShow<OwnedCommandResource>(session, questionAbout(commandId), (command) =>
    session.page.printFields([
      ["command id", command.command_id],
      ["command", command.command],
      ["status", describeStatus(command)],
      ["server", command.server_id],
      ["key", command.key_id],
      ["queued", describeMoment(command.queued_at)],
      ["sent", describeMoment(command.sent_at)],
      ["finished", describeMoment(command.finished_at)],
      ["confirmed", describeMoment(command.confirmed_at)],
      ["game's code", command.upstream_code === null ? "-" : String(command.upstream_code)],
      ["game's words", command.upstream_message ?? "-"],
    ]),
  );
}

function describeStatus({ status, position }: OwnedCommandResource): Cell {
  const text = position === null ? status : `${status} #${position}`;
  const colour = COLOUR_OF_STATUS[status];
  return colour === undefined ? text : { text, colour };
}

function describeMoment(moment: number | null): string {
  return moment === null ? "-" : formatMoment(moment);
}

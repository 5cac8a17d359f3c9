// gatehouse commands: lists, shows and cancels the commands to the game servers.
import { Command, Option } from "commander";
import { COMMAND_STATUSES, type CommandStatus } from "../core/command.ts";
import type { OwnedCommandResource } from "../core/wire/command.ts";
import { type Names, nameServer, readServerNames } from "./find-names.ts";
import { getServerId } from "./find-server.ts";
import type { Cell, Colour } from "./printer.ts";
import {
  addSessionOptions,
  callAndShow,
  listAndShow,
  openSession,
  parseLimit,
  ROWS_DEFAULT,
  type Session,
  type SessionOptions,
} from "./session.ts";
import { formatMoment, formatShortTime } from "./times.ts";

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
    .option("--limit <number>", `show at most this many (tables: ${ROWS_DEFAULT}, --json: all)`, parseLimit)
    .action(listCommands);
  const show = new Command("show")
    .description("show one command and its answer")
    .argument("<command_id>", "id of the command")
    .action(showCommand);
  const cancel = new Command("cancel")
    .description("cancel a command that is still waiting")
    .argument("<command_id>", "id of the command")
    .action(cancelCommand);
  const commands = new Command("commands").description("list, show and cancel commands to the game servers");
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
  const request = { path: ["commands"], query: { server_id: serverId, status: options.status } };
  const limit = options.limit ?? (session.wantsJson ? undefined : ROWS_DEFAULT);
  await listAndShow<OwnedCommandResource>(session, request, limit, async ({ items }) => {
    if (items.length === 0) return session.printer.printLine("no commands");
    printCommands(session, items, await readServerNames(session));
  });
}

export function printCommands(
  { printer, now }: Pick<Session, "printer" | "now">,
  commands: readonly OwnedCommandResource[],
  servers: Names,
): void {
  printer.printTable(
    [
      { title: "COMMAND ID", isWhole: true },
      { title: "STATUS", isWhole: true },
      { title: "QUEUED", isWhole: true },
      { title: "SERVER" },
      { title: "KEY" },
      { title: "COMMAND" },
    ],
    commands.map((command) => [
      command.command_id,
      describeStatus(command),
      formatShortTime(command.queued_at, now()),
      servers.get(command.server_id) ?? command.server_id,
      command.key_label ?? command.key_id,
      command.command,
    ]),
  );
}

async function cancelCommand(commandId: string, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  await callAndShow(session, { ...requestFor(commandId), method: "DELETE" }, () =>
    session.printer.printLine(`${commandId} is cancelled`),
  );
}

function requestFor(commandId: string) {
  const notFoundMessage = `there is no command ${commandId}: gatehouse commands list shows them`;
  return { path: ["commands", commandId], notFoundMessage };
}

async function showCommand(commandId: string, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  await callAndShow<OwnedCommandResource>(session, requestFor(commandId), async (command) =>
    session.printer.printFields([
      ["command id", command.command_id],
      ["command", command.command],
      ["status", describeStatus(command)],
      ["server", await nameServer(session, command.server_id)],
      ["key", nameSender(command)],
      ["queued", describeMoment(command.queued_at)],
      ["sent", describeMoment(command.sent_at)],
      ["finished", describeMoment(command.finished_at)],
      ["confirmed", describeMoment(command.confirmed_at)],
      ["game's code", command.upstream_code === null ? "-" : String(command.upstream_code)],
      ["game's words", command.upstream_message ?? "-"],
    ]),
  );
}

/** "My bot (key_…)"; the id alone when the label is not known. */
function nameSender({ key_id, key_label }: OwnedCommandResource): string {
  return key_label ? `${key_label} (${key_id})` : key_id;
}

function describeStatus({ status, position }: OwnedCommandResource): Cell {
  const text = position === null ? status : `${status} #${position}`;
  const colour = COLOUR_OF_STATUS[status];
  return colour === undefined ? text : { text, colour };
}

function describeMoment(moment: number | null): string {
  return moment === null ? "-" : formatMoment(moment);
}

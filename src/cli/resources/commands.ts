// gatehouse commands: lists, shows and cancels the commands to the game servers.
import { type Command, Option } from "commander";
import { COMMAND_STATUSES, type CommandStatus } from "../../core/commands/command.ts";
import type { OwnedCommandResource } from "../../core/wire/command.ts";
import { adminCommand, adminGroup, type Session, type SessionOptions, withLimit } from "../connection/session.ts";
import { type Look, type ResourceField, showMoment } from "../terminal/fields.ts";
import type { Cell, Colour } from "../terminal/printer.ts";
import { formatMoment } from "../terminal/times.ts";
import { describeResource, findServerId, requestFor, showTable } from "./find-resource.ts";

const COMMANDS = { noun: "command", path: "commands" };

const COLOUR_OF_STATUS: Readonly<Partial<Record<CommandStatus, Colour>>> = {
  sent: "green",
  failed: "red",
  unknown: "yellow",
  expired: "yellow",
};

export const COMMAND_FIELDS: readonly ResourceField<OwnedCommandResource>[] = [
  { name: "command id", show: ({ command_id }) => command_id, isWhole: true },
  { name: "command", show: ({ command }) => command },
  { name: "status", show: describeStatus, isWhole: true },
  { name: "server", show: ({ server_id }, { nameOf }) => nameOf(server_id) },
  { name: "by", show: nameSender },
  {
    name: "queued",
    show: ({ queued_at }, look) => (look.isTable ? showMoment(queued_at, look) : formatMoment(queued_at)),
    isWhole: true,
  },
  { name: "sent", show: ({ sent_at }) => formatMoment(sent_at) },
  { name: "finished", show: ({ finished_at }) => formatMoment(finished_at) },
  { name: "confirmed", show: ({ confirmed_at }) => formatMoment(confirmed_at) },
  { name: "game's code", show: ({ upstream_code }) => String(upstream_code ?? "-") },
  { name: "game's words", show: ({ upstream_message }) => upstream_message ?? "-" },
];
export const COMMAND_COLUMNS = ["status", "queued", "server", "by", "command"];

export function createCommandsCommand(): Command {
  return adminGroup("commands", "list, show and cancel commands to the game servers", [
    withLimit(
      adminCommand("list", "list commands, newest first", listCommands)
        .option("--server <server>", "only those of this server (id or name)")
        .option("--ids", "show the ids of the commands")
        .addOption(new Option("--status <status>", "only those in this state").choices(COMMAND_STATUSES)),
      "--json",
    ),
    adminCommand("show", "show one command and its answer", showCommand).argument("<command_id>", "id of the command"),
    adminCommand("cancel", "cancel a command that is still waiting", cancelCommand).argument(
      "<command_id>",
      "id of the command",
    ),
  ]);
}

type ListOptions = SessionOptions & { readonly status?: string };

async function listCommands(session: Session, options: ListOptions): Promise<void> {
  const query = { server_id: await findServerId(session, options.server), status: options.status };
  const request = { path: ["commands"], query };
  await session.list<OwnedCommandResource>(request, session.rowsOf(options), "no commands", (commands) =>
    showTable(session, COMMAND_FIELDS, commands, options.ids ? ["command id", ...COMMAND_COLUMNS] : COMMAND_COLUMNS),
  );
}

async function cancelCommand(session: Session, _: SessionOptions, commandId: string): Promise<void> {
  await session.call({ ...requestFor(COMMANDS, commandId), method: "DELETE" }, () =>
    session.printer.printLine(`${commandId} is cancelled`),
  );
}

async function showCommand(session: Session, _: SessionOptions, commandId: string): Promise<void> {
  await session.call<OwnedCommandResource>(requestFor(COMMANDS, commandId), async (command) =>
    session.printer.printFields(await describeResource(session, COMMAND_FIELDS, command)),
  );
}

/** "Robin (per_…)"; the id alone when the name is not known. */
function nameSender({ sent_by: { id, name } }: OwnedCommandResource, { isTable }: Look): string {
  if (name === "") return id;
  return isTable ? name : `${name} (${id})`;
}

function describeStatus({ status, position }: OwnedCommandResource): Cell {
  const text = position === null ? status : `${status} #${position}`;
  const colour = COLOUR_OF_STATUS[status];
  return colour === undefined ? text : { text, colour };
}

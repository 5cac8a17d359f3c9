// gatehouse servers: adds, lists, changes and removes game servers.
import { Command } from "commander";
import type { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../core/wire/server.ts";
import { failUsage } from "./exit-codes.ts";
import { obtainServerId } from "./find-server.ts";
import type { Printer } from "./printer.ts";
import { askText } from "./prompts.ts";
import {
  addSessionOptions,
  callAndShow,
  confirmOrFail,
  listAndShow,
  obtainSecret,
  openSession,
  parseLimit,
  type SessionOptions,
} from "./session.ts";
import { formatMoment } from "./times.ts";

const KEY_FROM_STDIN =
  "\nThe server key is read from a prompt or from the first line of standard input, never from an argument.";

export function createServersCommand(): Command {
  const add = new Command("add")
    .description("add a game server")
    .argument("[name]", "name of the server")
    .option("--name <name>", "name of the server, instead of the argument")
    .option("--community <community>", "its segment in /v2/<community>/game/server")
    .addHelpText("after", KEY_FROM_STDIN)
    .action(addServer);
  const list = new Command("list")
    .description("list the game servers")
    .option("--limit <number>", "show at most this many", parseLimit)
    .action(listServers);
  const show = new Command("show")
    .description("show one game server")
    .argument("[server]", "id or name of the server")
    .action(showServer);
  const setKey = new Command("set-key")
    .description("replace the server key of a game server")
    .argument("[server]", "id or name of the server")
    .addHelpText("after", KEY_FROM_STDIN)
    .action(setServerKey);
  const remove = new Command("remove")
    .description("remove a game server, and revoke its keys")
    .argument("[server]", "id or name of the server")
    .option("--yes", "do not ask for confirmation")
    .action(removeServer);
  const servers = new Command("servers").description("add, list and remove game servers");
  for (const command of [add, list, show, setKey, remove]) servers.addCommand(addSessionOptions(command));
  return servers;
}

type AddOptions = SessionOptions & { readonly name?: string; readonly community?: string };

async function addServer(argument: string | undefined, options: AddOptions): Promise<void> {
  if (argument !== undefined && options.name !== undefined) {
    failUsage("give the name once: as the argument or with --name");
  }
  const session = await openSession(options);
  const given = argument ?? options.name;
  if (given === undefined && !session.canAsk) failUsage("no name: give it as the argument or with --name");
  const name = given ?? (await askText("Name of the server"));
  const serverKey = await obtainSecret(session, "Server key");
  const body: NewServer = {
    name,
    server_key: serverKey,
    ...(options.community !== undefined && { community: options.community }),
  };
  await callAndShow<ServerResource>(session, { method: "POST", path: ["servers"], body }, (server) => {
    printServer(session.printer, server);
    session.printer.printLine(
      `\u2192 gatehouse keys create --server ${server.server_id} makes a key for it`,
      "dim",
    );
  });
}

async function listServers(options: SessionOptions & { readonly limit?: number }): Promise<void> {
  const session = await openSession(options);
  await listAndShow<ServerResource>(session, { path: ["servers"] }, options.limit, ({ items }) => {
    if (items.length === 0)
      return session.printer.printLine("no servers yet: gatehouse servers add makes one");
    session.printer.printTable(
      [{ title: "SERVER", isWhole: true }, { title: "NAME" }, { title: "COMMUNITY" }, { title: "CREATED" }],
      items.map((server) => [
        server.server_id,
        server.name,
        server.community ?? "-",
        formatMoment(server.created_at),
      ]),
    );
  });
}

async function showServer(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers show <server>");
  await callAndShow<ServerResource>(session, requestFor(serverId), (server) =>
    printServer(session.printer, server),
  );
}

async function setServerKey(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers set-key <server>");
  const body: ServerChange = { server_key: await obtainSecret(session, "Server key") };
  await callAndShow<ServerResource>(session, { ...requestFor(serverId), method: "PATCH", body }, (server) =>
    session.printer.printLine(`the key of ${server.name} (${server.server_id}) is replaced`),
  );
}

type RemoveOptions = SessionOptions & { readonly yes?: boolean };

async function removeServer(reference: string | undefined, options: RemoveOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers remove <server>");
  await confirmOrFail(session, options.yes, async () => {
    const { body } = await session.admin.call<ServerResource>(requestFor(serverId));
    return `Remove ${body.name} (${serverId})? Its keys stop working at once, and its waiting commands fail.`;
  });
  await callAndShow<DeletedServerResource>(
    session,
    { ...requestFor(serverId), method: "DELETE" },
    (deleted) =>
      session.printer.printLine(
        `${serverId} is removed: ${deleted.revoked_keys} keys revoked, ${deleted.failed_commands} waiting commands failed`,
      ),
  );
}

function requestFor(serverId: string) {
  const notFoundMessage = `there is no server ${serverId}: gatehouse servers list shows them`;
  return { path: ["servers", serverId], notFoundMessage };
}

function printServer(printer: Printer, server: ServerResource): void {
  printer.printFields([
    ["server", server.server_id],
    ["name", server.name],
    ["community", server.community ?? "-"],
    ["created", formatMoment(server.created_at)],
  ]);
}

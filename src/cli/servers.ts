// gatehouse servers: the game servers behind this Gatehouse.
import { Command } from "commander";
import type { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../core/wire/server.ts";
import { askText } from "./ask.ts";
import { failUsage } from "./exit-codes.ts";
import { obtainServerId } from "./find-server.ts";
import type { Page } from "./page.ts";
import {
  addSessionOptions,
  askAndShow,
  confirmOrFail,
  listAndShow,
  obtainSecret,
  openSession,
  parseLimit,
  type SessionOptions,
} from "./session.ts";
import { formatMoment } from "./times.ts";

const KEY_FROM_STDIN =
  "\nThe game server's key is asked for, or read from standard input (its first line), never from an argument.";

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
    .option("--limit <number>", "stop after so many", parseLimit)
    .action(listServers);
  const show = new Command("show")
    .description("show one game server")
    .argument("[server]", "id or name of the server")
    .action(showServer);
  const setKey = new Command("set-key")
    .description("replace the key that the game server asks for")
    .argument("[server]", "id or name of the server")
    .addHelpText("after", KEY_FROM_STDIN)
    .action(setServerKey);
  const remove = new Command("remove")
    .description("remove a game server, and revoke its keys")
    .argument("[server]", "id or name of the server")
    .option("--yes", "do not ask")
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
  await askAndShow<ServerResource>(session, { method: "POST", path: ["servers"], body }, (server) => {
    printServer(session.page, server);
    session.page.printLine(
      `\u2192 gatehouse keys create --server ${server.server_id} makes a key for it`,
      "dim",
    );
  });
}

async function listServers(options: SessionOptions & { readonly limit?: number }): Promise<void> {
  const session = await openSession(options);
  await listAndShow<ServerResource>(session, { path: ["servers"] }, options.limit, async ({ items }) => {
    if (items.length === 0) return session.page.printLine("no servers yet: gatehouse servers add makes one");
    await session.page.printTable(
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
  await askAndShow<ServerResource>(session, questionAbout(serverId), (server) =>
    printServer(session.page, server),
  );
}

async function setServerKey(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers set-key <server>");
  const body: ServerChange = { server_key: await obtainSecret(session, "Server key") };
  await askAndShow<ServerResource>(session, { ...questionAbout(serverId), method: "PATCH", body }, (server) =>
    session.page.printLine(`the key of ${server.name} (${server.server_id}) is replaced`),
  );
}

type RemoveOptions = SessionOptions & { readonly yes?: boolean };

async function removeServer(reference: string | undefined, options: RemoveOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers remove <server>");
  await confirmOrFail(session, options.yes, async () => {
    const { body } = await session.admin.ask<ServerResource>(questionAbout(serverId));
    return `Remove ${body.name} (${serverId})? Its keys stop working at once, and its waiting commands fail.`;
  });
  await askAndShow<DeletedServerResource>(
    session,
    { ...questionAbout(serverId), method: "DELETE" },
    (removal) =>
      session.page.printLine(
        `${serverId} is removed: ${removal.revoked_keys} keys revoked, ${removal.failed_commands} waiting commands failed`,
      ),
  );
}

function questionAbout(serverId: string) {
  const absent = `there is no server ${serverId}: gatehouse servers list shows them`;
  return { path: ["servers", serverId], absent };
}

function printServer(page: Page, server: ServerResource): void {
  page.printFields([
    ["server", server.server_id],
    ["name", server.name],
    ["community", server.community ?? "-"],
    ["created", formatMoment(server.created_at)],
  ]);
}

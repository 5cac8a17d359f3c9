// gatehouse servers: adds, lists, changes and removes game servers.
import { Command, Option } from "commander";
import { BAD_KEY_CODES, OFFLINE } from "../core/upstream-codes.ts";
import type { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../core/wire/server.ts";
import type { ServerInfo } from "../core/wire/server-info.ts";
import { CommandFailed, EXIT_CODES, failUsage } from "./exit-codes.ts";
import { obtainServerId } from "./find-server.ts";
import type { Cell, Colour, Field, Printer } from "./printer.ts";
import { askText, askYes } from "./prompts.ts";
import { escapeUnsafe } from "./safe-text.ts";
import {
  addSessionOptions,
  callAndShow,
  confirmOrFail,
  listAndShow,
  obtainSecret,
  openSession,
  parseLimit,
  type Session,
  type SessionOptions,
  showOrFail,
} from "./session.ts";
import { shorten } from "./table-layout.ts";
import { formatMoment, formatRelativeTime } from "./times.ts";

const KEY_FROM_STDIN =
  "\nThe server key is read from a prompt or from the first line of standard input, never from an argument.";

const STATUS_OFF = "off";
const CHECK_QUESTION = "Test the key now? It costs one call to the game API.";
/** The widest name beside an error in a list. */
const NAME_WIDTH_MAX = 24;

type Screen = Pick<Session, "printer" | "now">;

const STATE_COLOURS: Readonly<Record<ServerResource["state"], Colour>> = {
  online: "green",
  offline: "yellow",
  unreachable: "red",
  key_refused: "red",
  not_asked: "dim",
  parked: "yellow",
};

export function createServersCommand(): Command {
  const add = new Command("add")
    .description("add a game server")
    .argument("[name]", "name of the server")
    .option("--name <name>", "name of the server, instead of the argument")
    .option("--community <community>", "its segment in /v2/<community>/game/server")
    .option(
      "--no-watch",
      "do not read the server unasked: what happens there is recorded only while others read it",
    )
    .option("--public-status <slug>", "show everybody how the server is, at /status/<slug>")
    .option("--status-join-key", "with --public-status: everybody sees the join key too")
    .option("--check", "test the key with one call to the game API; exit code 1 if it is not accepted")
    .option("--no-check", "do not test the key, and do not ask whether to")
    .addHelpText("after", KEY_FROM_STDIN)
    .action(addServer);
  const list = new Command("list")
    .description("list the game servers and their states")
    .option("--limit <number>", "show at most this many", parseLimit)
    .action(listServers);
  const show = new Command("show")
    .description("show one game server, its state and what it failed with")
    .argument("[server]", "id or name of the server")
    .action(showServer);
  const setKey = new Command("set-key")
    .description("replace the server key of a game server")
    .argument("[server]", "id or name of the server")
    .option("--check", "test the new key with one call to the game API; exit code 1 if it is not accepted")
    .addHelpText("after", KEY_FROM_STDIN)
    .action(setServerKey);
  const set = new Command("set")
    .description("change how a game server is watched, and what everybody may see of it")
    .argument("[server]", "id or name of the server")
    .addOption(
      new Option(
        "--watch <on|off>",
        "whether Gatehouse reads the server unasked, to record what happens there",
      ).choices(["on", "off"]),
    )
    .option("--public-status <slug|off>", "show everybody how the server is, at /status/<slug>, or no longer")
    .option("--status-join-key", "with --public-status: everybody sees the join key too")
    .action(setServer);
  const remove = new Command("remove")
    .description("remove a game server, and revoke its keys")
    .argument("[server]", "id or name of the server")
    .option("--yes", "do not ask for confirmation")
    .action(removeServer);
  const servers = new Command("servers").description("add, list, change and remove game servers");
  for (const command of [add, list, show, set, setKey, remove])
    servers.addCommand(addSessionOptions(command));
  return servers;
}

type CheckOptions = SessionOptions & { readonly check?: boolean };
type StatusOptions = { readonly publicStatus?: string; readonly statusJoinKey?: boolean };
type AddOptions = CheckOptions &
  StatusOptions & {
    readonly name?: string;
    readonly community?: string;
    readonly watch: boolean;
  };

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
    ...(!options.watch && { watch: false }),
    ...parseStatusOptions(options),
  };
  const request = { method: "POST", path: ["servers"], body } as const;
  const { text, body: server } = await session.admin.call<ServerResource>(request);
  if (!session.wantsJson) await showOrFail(() => printServer(session, server));
  const isChecked = options.check ?? (session.canAsk && (await askYes(CHECK_QUESTION)));
  const check = isChecked ? await checkKey(session, server.server_id) : undefined;
  if (session.wantsJson) return printJson(text, check && { ...server, check });
  if (check) printCheck(session.printer, server, check);
  session.printer.printLine(
    `\u2192 gatehouse keys create --server ${server.server_id} makes a key for it`,
    "dim",
  );
}

type KeyCheck = {
  readonly result: "accepted" | "refused" | "unclear";
  /** Null when the game API answered with the server's state, and when Gatehouse itself failed. */
  readonly upstream_code: number | null;
  readonly upstream_message: string | null;
  /** The server's state, when there is one. */
  readonly info?: ServerInfo;
};

/** Reads the server once, as its callers would. Anything but an accepted key is exit code 1. */
async function checkKey(session: Session, serverId: string): Promise<KeyCheck> {
  const check = await readOnce(session, serverId);
  if (check.result !== "accepted") process.exitCode = EXIT_CODES.failed;
  return check;
}

async function readOnce(session: Session, serverId: string): Promise<KeyCheck> {
  try {
    const { body: info } = await session.admin.call<ServerInfo>({ path: ["servers", serverId, "info"] });
    return { result: "accepted", upstream_code: null, upstream_message: null, info };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    const code = error.error?.upstreamCode;
    // The server is added by now, so its id must still be printed.
    if (code === undefined) {
      return { result: "unclear", upstream_code: null, upstream_message: error.message };
    }
    // The game API says "offline" only to a valid key.
    const result = code === OFFLINE ? "accepted" : BAD_KEY_CODES.has(code) ? "refused" : "unclear";
    return { result, upstream_code: code, upstream_message: String(error.error?.body.upstream_message) };
  }
}

function printCheck(printer: Printer, { server_id }: ServerResource, check: KeyCheck): void {
  const { result, upstream_code: code, upstream_message: message, info } = check;
  if (info) {
    const players = `${info.CurrentPlayers} of ${info.MaxPlayers} players`;
    printer.printLine(`The game API accepts the key: ${info.Name}, ${players}.`, "green");
  } else if (result === "accepted") {
    printer.printLine("The game API accepts the key; the server is offline at the moment.", "green");
  } else if (result === "unclear") {
    printer.printLine(
      `The key could not be tested: ${message}${code === null ? "" : ` (${code})`}`,
      "yellow",
    );
  } else {
    printer.printLine(`The game API refuses the key: ${message} (${code})`, "red");
    printer.printLine(`\u2192 gatehouse servers set-key ${server_id} sets another`, "dim");
  }
}

/** The answer unchanged, or the one with more in it. */
function printJson(answer: string, extended: object | undefined): void {
  process.stdout.write(`${extended ? JSON.stringify(extended) : answer.trimEnd()}\n`);
}

async function listServers(options: SessionOptions & { readonly limit?: number }): Promise<void> {
  const session = await openSession(options);
  await listAndShow<ServerResource>(session, { path: ["servers"] }, options.limit, ({ items }) => {
    if (items.length === 0)
      return session.printer.printLine("no servers yet: gatehouse servers add makes one");
    printServers(session, items);
  });
}

async function showServer(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers show <server>");
  await callAndShow<ServerResource>(session, requestFor(serverId), (server) => printServer(session, server));
}

type SetOptions = SessionOptions & StatusOptions & { readonly watch?: "on" | "off" };

async function setServer(reference: string | undefined, options: SetOptions): Promise<void> {
  const body: ServerChange = {
    ...(options.watch !== undefined && { watch: options.watch === "on" }),
    ...parseStatusOptions(options),
  };
  if (Object.keys(body).length === 0) failUsage("nothing to change: give --watch or --public-status");
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers set <server> --watch on|off");
  const request = { ...requestFor(serverId), method: "PATCH", body } as const;
  await callAndShow<ServerResource>(session, request, (server) => printServer(session, server));
}

/** `off` ends the public status. The join key is shown only when this very command says so. */
export function parseStatusOptions(options: StatusOptions): Pick<ServerChange, "public_status"> {
  const { publicStatus: slug, statusJoinKey = false } = options;
  const isOn = slug !== undefined && slug !== STATUS_OFF;
  if (statusJoinKey && !isOn) failUsage("--status-join-key goes with --public-status <slug>");
  if (slug === undefined) return {};
  return { public_status: isOn ? { slug, show_join_key: statusJoinKey } : null };
}

async function setServerKey(reference: string | undefined, options: CheckOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, "gatehouse servers set-key <server>");
  const body: ServerChange = { server_key: await obtainSecret(session, "Server key") };
  const request = { ...requestFor(serverId), method: "PATCH", body } as const;
  const { text, body: server } = await session.admin.call<ServerResource>(request);
  if (!session.wantsJson) {
    session.printer.printLine(`the key of ${server.name} (${server.server_id}) is replaced`);
  }
  const check = options.check ? await checkKey(session, serverId) : undefined;
  if (session.wantsJson) return printJson(text, check && { ...server, check });
  if (check) printCheck(session.printer, server, check);
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

export function printServer({ printer, now }: Screen, server: ServerResource): void {
  const { last_error: error, last_read_at: readAt } = server;
  const fields: Field[] = [
    ["server", server.server_id],
    ["name", server.name],
    ["community", server.community ?? "-"],
    ["state", describeState(server)],
    ["players", server.players === null ? "-" : String(server.players)],
    [
      "last read",
      readAt === null ? "never" : `${formatMoment(readAt)} (${formatRelativeTime(readAt, now())})`,
    ],
    ["last error", error === null ? "-" : describeError(error, now())],
    ["watching", describeWatching(server)],
    ["public status", describePublicStatus(server)],
    ["made for", server.simulated ? "the built-in simulator" : "a real game API"],
    ["created", formatMoment(server.created_at)],
  ];
  printer.printFields(fields);
  if (server.state === "parked") {
    const other = server.simulated ? "a real game API" : "the built-in simulator";
    printer.printLine(`parked: ${other} is in use, so this server is not asked`, "yellow");
  }
}

/** The table of servers, and below it what they failed with. */
export function printServers({ printer, now }: Screen, servers: readonly ServerResource[]): void {
  printer.printTable(
    [
      { title: "SERVER", isWhole: true },
      { title: "NAME" },
      { title: "STATE", isWhole: true },
      { title: "PLAYERS" },
      { title: "LAST READ", isWhole: true },
    ],
    servers.map((server) => [
      server.server_id,
      server.name,
      describeState(server),
      server.players === null ? "-" : String(server.players),
      server.last_read_at === null ? "never" : formatRelativeTime(server.last_read_at, now()),
    ]),
  );
  printRemarks({ printer, now }, servers);
}

/**
 * What the servers of a list failed with and which are not watched, below its table: beside the other columns there is no
 * room for it.
 */
function printRemarks({ printer, now }: Screen, servers: readonly ServerResource[]): void {
  const fields = servers.flatMap(({ name, last_error, watch }): Field[] => {
    const remarks = [
      ...(last_error === null ? [] : [describeError(last_error, now())]),
      ...(watch ? [] : ["is not watched"]),
    ];
    return remarks.map((remark) => [shorten(escapeUnsafe(name), NAME_WIDTH_MAX), remark]);
  });
  if (fields.length === 0) return;
  printer.printLine("");
  printer.printFields(fields);
}

function describeState({ state }: ServerResource): Cell {
  return { text: state.replace("_", " "), colour: STATE_COLOURS[state] };
}

function describeWatching({ watching }: ServerResource): string {
  const { state, interval_ms: intervalMs, reason } = watching;
  if (state !== "watching" || intervalMs === null) return `${state}: ${reason}`;
  return `every ${Math.round(intervalMs / 100) / 10} s`;
}

function describePublicStatus({ public_status: status }: ServerResource): string {
  if (!status) return "off";
  return `/status/${status.slug}${status.show_join_key ? ", with the join key" : ""}`;
}

function describeError(error: NonNullable<ServerResource["last_error"]>, now: number): string {
  const { at, upstream_code, upstream_message } = error;
  return `${upstream_message} (${upstream_code}), ${formatRelativeTime(at, now)}`;
}

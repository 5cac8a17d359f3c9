// gatehouse servers: adds, lists, changes and removes game servers.
import type { Command, Option } from "commander";
import { BAD_KEY_CODES, OFFLINE } from "../../core/readings/upstream-codes.ts";
import type { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../../core/wire/server.ts";
import type { ServerInfo } from "../../core/wire/server-info.ts";
import {
  adminCommand,
  adminGroup,
  type Session,
  type SessionOptions,
  showOrFail,
  withLimit,
  withYes,
} from "../connection/session.ts";
import { CommandFailed, EXIT_CODES, failUsage } from "../exit-codes.ts";
import { listFields, printResources, type ResourceField, type Screen, showMoment } from "../terminal/fields.ts";
import type { Colour, Printer } from "../terminal/printer.ts";
import { askText, askYes } from "../terminal/prompts.ts";
import { formatMoment, formatRelativeTime } from "../terminal/times.ts";
import { obtainId, requestFor, resourceCommand, SERVERS } from "./find-resource.ts";
import { choice, isOn, type Settings, toFields } from "./settings.ts";

const KEY_FROM_STDIN =
  "\nThe server key is read from a prompt or from the first line of standard input, never from an argument.";

const STATUS_OFF = "off";
const NEW_SETTINGS: Settings<NewServer> = { community: ["community"], ownersSignIn: ["owners_sign_in", isOn] };
const SETTINGS: Settings<ServerChange> = { watch: ["watch", isOn], ownersSignIn: ["owners_sign_in", isOn] };
const CHECK_QUESTION = "Test the key now? It costs one call to the game API.";

const STATE_COLOURS: Readonly<Record<ServerResource["state"], Colour>> = {
  online: "green",
  offline: "yellow",
  unreachable: "red",
  key_refused: "red",
  not_asked: "dim",
  parked: "yellow",
};

const FIELDS: readonly ResourceField<ServerResource>[] = [
  { name: "server", show: ({ server_id }) => server_id, isWhole: true },
  { name: "name", show: ({ name }) => name },
  { name: "community", show: ({ community }) => community ?? "-" },
  {
    name: "state",
    show: ({ state }) => ({ text: state.replace("_", " "), colour: STATE_COLOURS[state] }),
    isWhole: true,
  },
  { name: "players", show: ({ players }) => String(players ?? "-") },
  {
    name: "last read",
    show: ({ last_read_at: at }, look) =>
      at !== null && look.isTable ? formatRelativeTime(at, look.now) : showMoment(at, look),
    isWhole: true,
  },
  {
    name: "last error",
    show: ({ last_error }, { now }) => (last_error === null ? "-" : describeError(last_error, now)),
  },
  { name: "watching", show: describeWatching },
  { name: "public status", show: describePublicStatus },
  {
    name: "owners",
    show: ({ owners_sign_in }) => (owners_sign_in ? "sign in as managers" : "sign in when they are invited"),
  },
  { name: "made for", show: ({ simulated }) => describeMaker(simulated) },
  { name: "created", show: ({ created_at }) => formatMoment(created_at) },
];
const COLUMNS = ["name", "state", "players", "last read"];

export function createServersCommand(): Command {
  return adminGroup("servers", "add, list, change and remove game servers", [
    adminCommand("add", "add a game server", addServer, checkName)
      .argument("[name]", "name of the server")
      .option("--name <name>", "name of the server, instead of the argument")
      .option("--community <community>", "its segment in /v2/<community>/game/server")
      .option("--no-watch", "do not read the server unasked: what happens there is recorded only while others read it")
      .option("--public-status <slug>", "show everybody how the server is, at /status/<slug>")
      .option("--status-join-key", "with --public-status: everybody sees the join key too")
      .addOption(ownersOption())
      .option("--check", "test the key with one call to the game API; exit code 1 if it is not accepted")
      .option("--no-check", "do not test the key, and do not ask whether to")
      .addHelpText("after", KEY_FROM_STDIN),
    withLimit(
      adminCommand("list", "list the game servers and their states", listServers).option(
        "--ids",
        "show the ids of the servers",
      ),
    ),
    resourceCommand(SERVERS, "show", "show one game server, its state and what it failed with", showServer),
    adminCommand("set", "change how a game server is watched, and what everybody may see of it", setServer, checkChange)
      .argument("[server]", "id or name of the server")
      .addOption(choice("--watch <on|off>", "whether Gatehouse reads the server unasked, to record what happens there"))
      .option("--public-status <slug|off>", "show everybody how the server is, at /status/<slug>, or no longer")
      .option("--status-join-key", "with --public-status: everybody sees the join key too")
      .addOption(ownersOption()),
    resourceCommand(SERVERS, "set-key", "replace the server key of a game server", setServerKey)
      .option("--check", "test the new key with one call to the game API; exit code 1 if it is not accepted")
      .addHelpText("after", KEY_FROM_STDIN),
    withYes(resourceCommand(SERVERS, "remove", "remove a game server and all that belongs to it", removeServer)).alias(
      "delete",
    ),
  ]);
}

function ownersOption(): Option {
  const meaning = "whether the game's owner and co-owners sign in as managers, with the chat platform";
  return choice("--owners-sign-in <on|off>", meaning);
}

type CheckOptions = SessionOptions & { readonly check?: boolean };
type StatusOptions = { readonly publicStatus?: string; readonly statusJoinKey?: boolean };
type AddOptions = CheckOptions & StatusOptions & { readonly name?: string; readonly watch: boolean };

function checkName({ name }: AddOptions, argument: string | undefined): void {
  if (argument !== undefined && name !== undefined) failUsage("give the name once: as the argument or with --name");
}

async function addServer(session: Session, options: AddOptions, argument: string | undefined): Promise<void> {
  const given = argument ?? options.name;
  if (given === undefined && !session.canAsk) failUsage("no name: give it as the argument or with --name");
  const name = given ?? (await askText("Name of the server"));
  const body = {
    name,
    server_key: await session.obtainSecret("Server key"),
    ...toFields(NEW_SETTINGS, options),
    ...(!options.watch && { watch: false }),
    ...parseStatusOptions(options),
  };
  const request = { method: "POST", path: ["servers"], body } as const;
  const { text, body: server } = await session.admin.call<ServerResource>(request);
  if (!session.wantsJson) await showOrFail(() => printServer(session, server));
  const isChecked = options.check ?? (session.canAsk && (await askYes(CHECK_QUESTION)));
  await checkAndPrint(session, server, text, isChecked);
  if (session.wantsJson) return;
  session.printer.printLine(`\u2192 gatehouse keys create --server ${server.server_id} makes a key for it`, "dim");
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
    printer.printLine(`The key could not be tested: ${message}${code === null ? "" : ` (${code})`}`, "yellow");
  } else {
    printer.printLine(`The game API refuses the key: ${message} (${code})`, "red");
    printer.printLine(`\u2192 gatehouse servers set-key ${server_id} sets another`, "dim");
  }
}

/** With --json it prints the answer, with the result of the check in it. */
async function checkAndPrint(session: Session, server: ServerResource, answer: string, isChecked: boolean | undefined) {
  const check = isChecked ? await checkKey(session, server.server_id) : undefined;
  if (session.wantsJson) process.stdout.write(`${check ? JSON.stringify({ ...server, check }) : answer.trimEnd()}\n`);
  else if (check) printCheck(session.printer, server, check);
}

async function listServers(session: Session, { limit, ids }: SessionOptions): Promise<void> {
  const none = "no servers yet: gatehouse servers add makes one";
  await session.list<ServerResource>({ path: ["servers"] }, limit, none, (servers) =>
    printServers(session, servers, ids),
  );
}

async function showServer(session: Session, serverId: string): Promise<void> {
  await session.call<ServerResource>(requestFor(SERVERS, serverId), (server) => printServer(session, server));
}

type SetOptions = SessionOptions & StatusOptions;

function toChange(options: SetOptions) {
  return { ...toFields(SETTINGS, options), ...parseStatusOptions(options) };
}

function checkChange(options: SetOptions): void {
  if (Object.keys(toChange(options)).length === 0)
    failUsage("nothing to change: give --watch, --public-status or --owners-sign-in");
}

async function setServer(session: Session, options: SetOptions, reference: string | undefined): Promise<void> {
  const serverId = await obtainId(session, SERVERS, reference, "gatehouse servers set <server> --watch on|off");
  const request = { ...requestFor(SERVERS, serverId), method: "PATCH", body: toChange(options) } as const;
  await session.call<ServerResource>(request, (server) => printServer(session, server));
}

/** `off` ends the public status. The join key is shown only when this very command says so. */
export function parseStatusOptions(options: StatusOptions): Pick<ServerChange, "public_status"> {
  const { publicStatus: slug, statusJoinKey = false } = options;
  const isOn = slug !== undefined && slug !== STATUS_OFF;
  if (statusJoinKey && !isOn) failUsage("--status-join-key goes with --public-status <slug>");
  if (slug === undefined) return {};
  return { public_status: isOn ? { slug, show_join_key: statusJoinKey } : null };
}

async function setServerKey(session: Session, serverId: string, options: CheckOptions): Promise<void> {
  const body: ServerChange = { server_key: await session.obtainSecret("Server key") };
  const request = { ...requestFor(SERVERS, serverId), method: "PATCH", body } as const;
  const { text, body: server } = await session.admin.call<ServerResource>(request);
  if (!session.wantsJson) {
    session.printer.printLine(`the key of ${server.name} (${server.server_id}) is replaced`);
  }
  await checkAndPrint(session, server, text, options.check);
}

async function removeServer(session: Session, serverId: string, { yes }: SessionOptions): Promise<void> {
  const request = requestFor(SERVERS, serverId);
  await session.confirmByName(yes, async () => {
    const { body } = await session.admin.call<ServerResource>(request);
    session.printer.printFields([
      ["server", `${body.name} (${serverId})`],
      ["goes with it", "its events, history, webhooks, alerts and map, and what people may do on it, for good"],
      ["ends at once", "its keys are revoked, and its waiting commands fail"],
    ]);
    return body.name;
  });
  await session.call<DeletedServerResource>({ ...request, method: "DELETE" }, ({ revoked_keys, failed_commands }) =>
    session.printer.printLine(
      `${serverId} is removed: ${revoked_keys} keys revoked, ${failed_commands} waiting commands failed`,
    ),
  );
}

export function printServer({ printer, now }: Screen, server: ServerResource): void {
  printer.printFields(listFields(FIELDS, server, now()));
  if (server.state === "parked") {
    printer.printLine(`parked: ${describeMaker(!server.simulated)} is in use, so this server is not asked`, "yellow");
  }
}

/** The table of servers, and below it what they failed with and which are not watched. */
export function printServers(screen: Screen, servers: readonly ServerResource[], showsIds = false): void {
  printResources(screen, FIELDS, servers, showsIds ? ["server", ...COLUMNS] : COLUMNS);
  screen.printer.printRemarks(
    servers.flatMap(({ name, last_error, watch }) => [
      ...(last_error === null ? [] : [[name, describeError(last_error, screen.now())]]),
      ...(watch ? [] : [[name, "is not watched"]]),
    ]),
  );
}

function describeMaker(isSimulated: boolean): string {
  return isSimulated ? "the built-in simulator" : "a real game API";
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

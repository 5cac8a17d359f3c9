// gatehouse keys: creates, lists, changes and revokes API keys.
import { Command } from "commander";
import type {
  KeyResource,
  KeyUpdate,
  KeyWithToken,
  KeyWithUsage,
  RotatedKey,
  Rotation,
} from "../core/wire/key.ts";
import { failUsage } from "./exit-codes.ts";
import { getServerId, obtainServerId } from "./find-server.ts";
import { addKeyOptions, type KeyOptions, parseGrace, toKeyFields } from "./key-options.ts";
import { KEY_COLUMNS, toKeyFieldList, toKeyRow, toUsageFieldList } from "./key-output.ts";
import type { Printer } from "./printer.ts";
import { askChoice, askText } from "./prompts.ts";
import {
  addSessionOptions,
  callAndShow,
  confirmOrFail,
  listAndShow,
  openSession,
  parseLimit,
  type Session,
  type SessionOptions,
} from "./session.ts";
import { formatMoment } from "./times.ts";

/** The most keys in a prompt; other keys must be named by their id. */
const CHOICES_MAX = 1_000;

export function createKeysCommand(): Command {
  const create = addKeyOptions(new Command("create").description("create a key and print its token, once"))
    .option("--server <server>", "id or name of the game server it is for")
    .addHelpText("after", "\nDefaults: versions v2, all sections, no commands, any address, no expiry.")
    .action(createKey);
  const list = new Command("list")
    .description("list the keys")
    .option("--server <server>", "only those of this server (id or name)")
    .option("--limit <number>", "show at most this many", parseLimit)
    .action(listKeys);
  const update = addKeyOptions(withKeyArgument(new Command("update").description("change what a key may do")))
    .addHelpText("after", "\nOptions that are left out change nothing.")
    .action(updateKey);
  const show = withKeyArgument(new Command("show").description("show a key's rights and usage")).action(
    showKey,
  );
  const suspend = withKeyArgument(
    new Command("suspend").description("refuse a key until it is resumed"),
  ).action((keyId: string | undefined, options: SessionOptions) => setSuspended(keyId, options, "suspend"));
  const resume = withKeyArgument(new Command("resume").description("accept a suspended key again")).action(
    (keyId: string | undefined, options: SessionOptions) => setSuspended(keyId, options, "resume"),
  );
  const rotate = withKeyArgument(
    new Command("rotate").description("give a key a new token, and print it once"),
  )
    .option("--grace <duration>", "how long the old token works on: 45s, 90m, 12h, 30d (default: not at all)")
    .option("--yes", "do not ask for confirmation")
    .action(rotateKey);
  const revoke = withKeyArgument(new Command("revoke").description("revoke a key for good"))
    .option("--yes", "do not ask for confirmation")
    .action(revokeKey);
  const keys = new Command("keys").description("create, list, change and revoke API keys");
  for (const command of [create, list, show, update, suspend, resume, rotate, revoke]) {
    keys.addCommand(addSessionOptions(command));
  }
  return keys;
}

function withKeyArgument(command: Command): Command {
  return command.argument("[key_id]", "id of the key");
}

type CreateOptions = SessionOptions & KeyOptions & { readonly server?: string };

async function createKey(options: CreateOptions): Promise<void> {
  const session = await openSession(options);
  const fields = toKeyFields(options, session.now());
  const serverId = await obtainServerId(session, options.server, "name it with --server");
  if (fields.label === undefined && !session.canAsk)
    failUsage("no label: say what the key is for with --label");
  const label = fields.label ?? (await askText("What is the key for? (label)"));
  const request = {
    method: "POST",
    path: ["keys"],
    body: { server_id: serverId, label, ...fields },
  } as const;
  await callAndShow<KeyWithToken>(session, request, ({ token, ...key }) => {
    session.printer.printFields(toKeyFieldList(key, session.now()));
    printToken(session.printer, token);
  });
}

async function listKeys(options: SessionOptions & { server?: string; limit?: number }): Promise<void> {
  const session = await openSession(options);
  const serverId = options.server === undefined ? undefined : await getServerId(session, options.server);
  const request = { path: ["keys"], query: { server_id: serverId } };
  await listAndShow<KeyResource>(session, request, options.limit, ({ items }) => {
    if (items.length === 0) return session.printer.printLine("no keys: gatehouse keys create makes one");
    session.printer.printTable(
      KEY_COLUMNS,
      items.map((key) => toKeyRow(key, session.now())),
    );
  });
}

async function showKey(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const keyId = await obtainKeyId(session, reference, "show");
  await callAndShow<KeyWithUsage>(session, requestFor(keyId), ({ usage, ...key }) => {
    const now = session.now();
    session.printer.printFields([...toKeyFieldList(key, now), ...toUsageFieldList(usage, now)]);
  });
}

async function updateKey(reference: string | undefined, options: SessionOptions & KeyOptions): Promise<void> {
  const session = await openSession(options);
  const body = toKeyFields(options, session.now());
  if (Object.keys(body).length === 0)
    failUsage("nothing to change: gatehouse keys update --help has the options");
  const keyId = await obtainKeyId(session, reference, "update");
  await callAndShow<KeyResource>(session, { ...requestFor(keyId), method: "PATCH", body }, (key) =>
    session.printer.printFields(toKeyFieldList(key, session.now())),
  );
}

async function setSuspended(
  reference: string | undefined,
  options: SessionOptions,
  verb: "suspend" | "resume",
): Promise<void> {
  const session = await openSession(options);
  const keyId = await obtainKeyId(session, reference, verb);
  const body: KeyUpdate = { suspended: verb === "suspend" };
  await callAndShow<KeyResource>(session, { ...requestFor(keyId), method: "PATCH", body }, (key) =>
    session.printer.printLine(
      `${key.label} (${key.key_id}) is ${key.suspended ? "suspended: its requests are refused" : "accepted again"}`,
    ),
  );
}

type RotateOptions = SessionOptions & { readonly grace?: string; readonly yes?: boolean };

async function rotateKey(reference: string | undefined, options: RotateOptions): Promise<void> {
  const graceSeconds = parseGrace(options.grace);
  const session = await openSession(options);
  const keyId = await obtainKeyId(session, reference, "rotate");
  await confirmOrFail(session, options.yes || graceSeconds > 0, async () => {
    return `Give ${await nameKey(session, keyId)} a new token? The old one stops working at once (--grace keeps it for a while).`;
  });
  const body: Rotation = graceSeconds > 0 ? { grace_seconds: graceSeconds } : {};
  const request = {
    ...requestFor(keyId),
    method: "POST",
    path: ["keys", keyId, "rotate"],
    body,
  } as const;
  await callAndShow<RotatedKey>(session, request, (rotated) => {
    const until = formatMoment(rotated.old_token_valid_until);
    session.printer.printFields([
      ["key", rotated.key_id],
      ["old token", graceSeconds > 0 ? `works until ${until}` : "no longer works"],
    ]);
    printToken(session.printer, rotated.token);
  });
}

async function revokeKey(
  reference: string | undefined,
  options: SessionOptions & { readonly yes?: boolean },
): Promise<void> {
  const session = await openSession(options);
  const keyId = await obtainKeyId(session, reference, "revoke");
  await confirmOrFail(session, options.yes, async () => {
    return `Revoke ${await nameKey(session, keyId)}? It stops working at once, for good.`;
  });
  await callAndShow(session, { ...requestFor(keyId), method: "DELETE" }, () =>
    session.printer.printLine(`${keyId} is revoked`),
  );
}

async function obtainKeyId(session: Session, given: string | undefined, verb: string): Promise<string> {
  if (given !== undefined) return given;
  if (!session.canAsk) failUsage(`no key: gatehouse keys ${verb} <key_id>`);
  const { items } = await session.admin.list<KeyResource>({ path: ["keys"] }, CHOICES_MAX);
  const choices = items
    .filter((key) => key.revoked_at === null)
    .map((key) => ({ value: key.key_id, label: key.label, hint: key.key_id }));
  if (choices.length === 0) failUsage("there is no key yet: gatehouse keys create makes one");
  return await askChoice("Which key?", choices);
}

async function nameKey(session: Session, keyId: string): Promise<string> {
  const { body } = await session.admin.call<KeyResource>(requestFor(keyId));
  return `${body.label} (${keyId})`;
}

function requestFor(keyId: string) {
  return {
    path: ["keys", keyId],
    notFoundMessage: `there is no key ${keyId}: gatehouse keys list shows them`,
  };
}

function printToken(printer: Printer, token: string): void {
  printer.printLine("");
  printer.printLine(token, "bold");
  printer.printLine("This token is shown only now: store it where its user can find it.", "dim");
}

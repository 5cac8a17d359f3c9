// gatehouse keys: creates, lists, changes and revokes API keys.
import { Command, Option } from "commander";
import { KEY_STATES, type KeyState } from "../core/key-state.ts";
import type {
  KeyResource,
  KeyUpdate,
  KeyWithToken,
  KeyWithUsage,
  RotatedKey,
  Rotation,
} from "../core/wire/key.ts";
import type { PageOf } from "../core/wire/page.ts";
import { failUsage } from "./exit-codes.ts";
import { isNotRevoked, obtainKeyId } from "./find-key.ts";
import { nameKey, nameServer, readServerNames } from "./find-names.ts";
import { getServerId, obtainServerId } from "./find-server.ts";
import { addKeyOptions, type KeyOptions, parseGrace, toKeyFields } from "./key-options.ts";
import { printKeys, toGraceFieldList, toKeyFieldList, toUsageFieldList } from "./key-output.ts";
import type { Field, Printer } from "./printer.ts";
import { askText } from "./prompts.ts";
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

export function createKeysCommand(): Command {
  const create = addKeyOptions(new Command("create").description("create a key and print its token, once"))
    .option("--server <server>", "id or name of the game server it is for")
    .addHelpText("after", "\nDefaults: versions v2, all sections, no commands, any address, no expiry.")
    .action(createKey);
  const list = new Command("list")
    .description("list the keys")
    .option("--label <text>", "only those with this in their label")
    .option("--server <server>", "only those of this server (id or name)")
    .addOption(new Option("--state <state>", "only those in this state").choices(KEY_STATES))
    .option("--all", "the revoked ones too, which are left out otherwise")
    .option("--ids", "show the ids of the keys")
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
  return command.argument("[key]", "label or id of the key");
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
  await callAndShow<KeyWithToken>(session, request, async ({ token, facade_key, ...key }) => {
    session.printer.printFields(await describeKey(session, key));
    printToken(session.printer, token, facade_key);
  });
}

type ListOptions = SessionOptions & {
  readonly label?: string;
  readonly server?: string;
  readonly state?: KeyState;
  readonly all?: boolean;
  readonly ids?: boolean;
  readonly limit?: number;
};

async function listKeys(options: ListOptions): Promise<void> {
  const session = await openSession(options);
  const { label, state, limit } = options;
  const serverId = options.server === undefined ? undefined : await getServerId(session, options.server);
  const request = { path: ["keys"], query: { server_id: serverId, label, state } };
  let hidden = 0;
  const keeps = (key: KeyResource) => {
    const isShown = state !== undefined || options.all === true || isNotRevoked(key);
    if (!isShown) hidden += 1;
    return isShown;
  };
  const isSearch = label !== undefined || serverId !== undefined || state !== undefined;
  const show = async ({ items }: PageOf<KeyResource>) => {
    if (items.length > 0) {
      printKeys(session, items, await readServerNames(session), options.ids === true);
    } else if (hidden === 0) {
      session.printer.printLine(isSearch ? "no such keys" : "no keys: gatehouse keys create makes one");
    }
    if (hidden > 0) session.printer.printLine(`Not shown: ${hidden} revoked; --all shows them.`, "dim");
  };
  await listAndShow<KeyResource>(session, request, limit, show, keeps);
}

async function describeKey(session: Session, key: KeyResource): Promise<readonly Field[]> {
  return toKeyFieldList(key, await nameServer(session, key.server_id), session.now());
}

async function showKey(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const keyId = await obtainKeyId(session, reference, "keys show");
  await callAndShow<KeyWithUsage>(session, requestFor(keyId), async ({ usage, grace_tokens, ...key }) => {
    const now = session.now();
    const fields = await describeKey(session, key);
    const grace = toGraceFieldList(grace_tokens, now);
    session.printer.printFields([...fields, ...grace, ...toUsageFieldList(usage, now)]);
  });
}

async function updateKey(reference: string | undefined, options: SessionOptions & KeyOptions): Promise<void> {
  const session = await openSession(options);
  const body = toKeyFields(options, session.now());
  if (Object.keys(body).length === 0)
    failUsage("nothing to change: gatehouse keys update --help has the options");
  const keyId = await obtainKeyId(session, reference, "keys update");
  const request = { ...requestFor(keyId), method: "PATCH", body } as const;
  await callAndShow<KeyResource>(session, request, async (key) =>
    session.printer.printFields(await describeKey(session, key)),
  );
}

async function setSuspended(
  reference: string | undefined,
  options: SessionOptions,
  verb: "suspend" | "resume",
): Promise<void> {
  const session = await openSession(options);
  const keyId = await obtainKeyId(session, reference, `keys ${verb}`);
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
  const keyId = await obtainKeyId(session, reference, "keys rotate");
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
    printToken(session.printer, rotated.token, rotated.facade_key);
  });
}

async function revokeKey(
  reference: string | undefined,
  options: SessionOptions & { readonly yes?: boolean },
): Promise<void> {
  const session = await openSession(options);
  const keyId = await obtainKeyId(session, reference, "keys revoke");
  const name = session.wantsJson ? keyId : await nameKey(session, keyId);
  await confirmOrFail(session, options.yes, async () => {
    return `Revoke ${name}? It stops working at once, for good.`;
  });
  await callAndShow(session, { ...requestFor(keyId), method: "DELETE" }, () =>
    session.printer.printLine(`${name} is revoked`),
  );
}

function requestFor(keyId: string) {
  return {
    path: ["keys", keyId],
    notFoundMessage: `there is no key ${keyId}: gatehouse keys list shows them`,
  };
}

function printToken(printer: Printer, token: string, facadeKey: string): void {
  printer.printLine("");
  printer.printLine(token, "bold");
  printer.printLine("This token is shown only now: store it where its user can find it.", "dim");
  printer.printLine("");
  printer.printLine(facadeKey, "bold");
  printer.printLine("The same as a server-key, for bots that were written for the game API.", "dim");
}

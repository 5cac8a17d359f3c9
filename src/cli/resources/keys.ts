// gatehouse keys: creates, lists, changes and revokes API keys.
import { type Command, Option } from "commander";
import { KEY_STATES, type KeyState } from "../../core/keys/key-state.ts";
import type { KeyResource, KeyUpdate, KeyWithToken, KeyWithUsage, RotatedKey, Rotation } from "../../core/wire/key.ts";
import {
  adminCommand,
  adminGroup,
  type Session,
  type SessionOptions,
  withLimit,
  withYes,
} from "../connection/session.ts";
import { failUsage } from "../exit-codes.ts";
import type { Printer } from "../terminal/printer.ts";
import { askText } from "../terminal/prompts.ts";
import { formatMoment } from "../terminal/times.ts";
import {
  describeResource,
  findServerId,
  isNotRevoked,
  KEYS,
  nameResource,
  obtainId,
  requestFor,
  resourceCommand,
  SERVERS,
  showTable,
} from "./find-resource.ts";
import {
  addKeyOptions,
  KEY_COLUMNS,
  KEY_FIELDS,
  type KeyOptions,
  parseGrace,
  toGraceFieldList,
  toKeyFields,
  toUsageFieldList,
} from "./key-fields.ts";

export function createKeysCommand(): Command {
  return adminGroup("keys", "create, list, change and revoke API keys", [
    addKeyOptions(adminCommand("create", "create a key and print its token, once", createKey))
      .option("--server <server>", "id or name of the game server it is for")
      .addHelpText(
        "after",
        "\nDefaults: versions v2, all sections, no commands, nothing hidden, nothing besides, any address, no expiry.",
      ),
    withLimit(
      adminCommand("list", "list the keys", listKeys)
        .option("--label <text>", "only those with this in their label")
        .option("--server <server>", "only those of this server (id or name)")
        .addOption(new Option("--state <state>", "only those in this state").choices(KEY_STATES))
        .option("--all", "the revoked ones too, which are left out otherwise")
        .option("--ids", "show the ids of the keys"),
    ),
    resourceCommand(KEYS, "show", "show a key's rights and usage", showKey),
    addKeyOptions(resourceCommand(KEYS, "update", "change what a key may do", updateKey, checkChange)).addHelpText(
      "after",
      "\nOptions that are left out change nothing.",
    ),
    resourceCommand(KEYS, "suspend", "refuse a key until it is resumed", (session, id) => suspend(session, id, true)),
    resourceCommand(KEYS, "resume", "accept a suspended key again", (session, id) => suspend(session, id, false)),
    resourceCommand(KEYS, "rotate", "give a key a new token, and print it once", rotateKey, ({ grace }) =>
      parseGrace(grace),
    )
      .option("--grace <duration>", "how long the old token works on: 45s, 90m, 12h, 30d (default: not at all)")
      .option("--yes", "do not ask for confirmation"),
    withYes(resourceCommand(KEYS, "revoke", "revoke a key for good", revokeKey)),
  ]);
}

async function createKey(session: Session, options: SessionOptions & KeyOptions): Promise<void> {
  const fields = toKeyFields(options, session.now());
  const serverId = await obtainId(session, SERVERS, options.server, "name it with --server");
  if (fields.label === undefined && !session.canAsk) failUsage("no label: say what the key is for with --label");
  const label = fields.label ?? (await askText("What is the key for? (label)"));
  const body = { server_id: serverId, label, ...fields };
  await session.call<KeyWithToken>({ method: "POST", path: ["keys"], body }, async ({ token, facade_key, ...key }) => {
    session.printer.printFields(await describeResource(session, KEY_FIELDS, key));
    printToken(session.printer, token, facade_key);
  });
}

type ListOptions = SessionOptions & {
  readonly label?: string;
  readonly state?: KeyState;
  readonly all?: boolean;
};

async function listKeys(session: Session, options: ListOptions): Promise<void> {
  const { label, state, limit } = options;
  const query = { server_id: await findServerId(session, options.server), label, state };
  let hidden = 0;
  const keeps = (key: KeyResource) => {
    const isShown = state !== undefined || options.all === true || isNotRevoked(key);
    if (!isShown) hidden += 1;
    return isShown;
  };
  const isSearch = Object.values(query).some((value) => value !== undefined);
  const show = async (keys: readonly KeyResource[]) => {
    if (keys.length > 0) {
      await showTable(session, KEY_FIELDS, keys, options.ids ? ["key", ...KEY_COLUMNS] : KEY_COLUMNS);
    } else if (hidden === 0) {
      session.printer.printLine(isSearch ? "no such keys" : "no keys: gatehouse keys create makes one");
    }
    if (hidden > 0) session.printer.printLine(`Not shown: ${hidden} revoked; --all shows them.`, "dim");
  };
  await session.list<KeyResource>({ path: ["keys"], query }, limit, undefined, show, keeps);
}

async function showKey(session: Session, keyId: string): Promise<void> {
  await session.call<KeyWithUsage>(requestFor(KEYS, keyId), async ({ usage, grace_tokens, ...key }) => {
    const now = session.now();
    const fields = await describeResource(session, KEY_FIELDS, key);
    session.printer.printFields([...fields, ...toGraceFieldList(grace_tokens, now), ...toUsageFieldList(usage, now)]);
  });
}

function checkChange(options: KeyOptions): void {
  const isEmpty = Object.keys(toKeyFields(options, Date.now())).length === 0;
  if (isEmpty) failUsage("nothing to change: gatehouse keys update --help has the options");
}

async function updateKey(session: Session, keyId: string, options: SessionOptions & KeyOptions): Promise<void> {
  const request = { ...requestFor(KEYS, keyId), method: "PATCH", body: toKeyFields(options, session.now()) } as const;
  await session.call<KeyResource>(request, async (key) =>
    session.printer.printFields(await describeResource(session, KEY_FIELDS, key)),
  );
}

async function suspend(session: Session, keyId: string, suspended: boolean): Promise<void> {
  const body: KeyUpdate = { suspended };
  await session.call<KeyResource>({ ...requestFor(KEYS, keyId), method: "PATCH", body }, (key) =>
    session.printer.printLine(
      `${key.label} (${key.key_id}) is ${key.suspended ? "suspended: its requests are refused" : "accepted again"}`,
    ),
  );
}

type RotateOptions = SessionOptions & { readonly grace?: string };

async function rotateKey(session: Session, keyId: string, options: RotateOptions): Promise<void> {
  const graceSeconds = parseGrace(options.grace);
  await session.confirm(options.yes || graceSeconds > 0, async () => {
    const name = await nameResource(session, KEYS, keyId);
    return `Give ${name} a new token? The old one stops working at once (--grace keeps it for a while).`;
  });
  const body: Rotation = graceSeconds > 0 ? { grace_seconds: graceSeconds } : {};
  const request = { ...requestFor(KEYS, keyId, "rotate"), method: "POST", body } as const;
  await session.call<RotatedKey>(request, (rotated) => {
    const until = formatMoment(rotated.old_token_valid_until);
    session.printer.printFields([
      ["key", rotated.key_id],
      ["old token", graceSeconds > 0 ? `works until ${until}` : "no longer works"],
    ]);
    printToken(session.printer, rotated.token, rotated.facade_key);
  });
}

async function revokeKey(session: Session, keyId: string, { yes }: SessionOptions): Promise<void> {
  const name = session.wantsJson ? keyId : await nameResource(session, KEYS, keyId);
  await session.confirm(yes, () => `Revoke ${name}? It stops working at once, for good.`);
  await session.call({ ...requestFor(KEYS, keyId), method: "DELETE" }, () =>
    session.printer.printLine(`${name} is revoked`),
  );
}

function printToken(printer: Printer, token: string, facadeKey: string): void {
  printer.printLine("");
  printer.printLine(token, "bold");
  printer.printLine("This token is shown only now: store it where its user can find it.", "dim");
  printer.printLine("");
  printer.printLine(facadeKey, "bold");
  printer.printLine("The same as a server-key, for bots that were written for the game API.", "dim");
}

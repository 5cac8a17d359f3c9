// gatehouse webhooks: creates, lists, changes, tests and deletes webhooks, and shows what they delivered.
import { Command, Option } from "commander";
import { WAITING_MAX, WEBHOOK_FORMATS, WEBHOOK_LANGUAGES } from "../core/webhooks/webhook.ts";
import type {
  DeliveryResource,
  NewWebhook,
  RotatedWebhook,
  WebhookResource,
  WebhookTestResult,
  WebhookUpdate,
  WebhookWithSecret,
} from "../core/wire/webhook.ts";
import { EXIT_CODES, failUsage } from "./exit-codes.ts";
import { type Names, nameServer, readServerNames } from "./find-names.ts";
import { getServerId, obtainServerId } from "./find-server.ts";
import { obtainWebhookId } from "./find-webhook.ts";
import type { Cell, Field, Printer } from "./printer.ts";
import { askChoice, askText } from "./prompts.ts";
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
} from "./session.ts";
import { type Column, shorten } from "./table-layout.ts";
import { formatMoment, formatRelativeTime, formatShortTime } from "./times.ts";

const URL_FROM_STDIN =
  "\nThe address is read from a prompt or from the first line of standard input, never from an argument: it may hold a token.";
const ALL_TYPES = "all";
/** The widest label beside a remark in a list. */
const LABEL_WIDTH_MAX = 24;

type Screen = Pick<Session, "printer" | "now">;

export function createWebhooksCommand(): Command {
  const list = new Command("list")
    .description("list the webhooks and how they are")
    .option("--server <server>", "only those of this server (id or name)")
    .option("--ids", "show the ids of the webhooks")
    .option("--limit <number>", "show at most this many", parseLimit)
    .action(listWebhooks);
  const create = new Command("create")
    .description("create a webhook and print its secret, once")
    .option("--server <server>", "id or name of the game server whose events it gets")
    .option("--label <text>", "what it is for")
    .addOption(
      new Option("--format <format>", "what the receiver gets: events for a program, or messages").choices(
        WEBHOOK_FORMATS,
      ),
    )
    .option("--types <types>", "only these types of events: player.*,modcall.opened (default: all)")
    .addOption(languageOption())
    .option("--show-join-key", "tell the server's join key in Discord")
    .addHelpText("after", URL_FROM_STDIN)
    .action(createWebhook);
  const show = withWebhook(new Command("show").description("show a webhook")).action(showWebhook);
  const change = withWebhook(new Command("change").description("change a webhook"))
    .option("--label <text>", "what it is for")
    .option("--new-url", "read a new address from a prompt or standard input")
    .option("--types <types>", `only these types of events, or ${ALL_TYPES}`)
    .addOption(languageOption())
    .addOption(onOrOff("--show-join-key <on|off>", "whether Discord is told the server's join key"))
    .addOption(onOrOff("--enabled <on|off>", "whether anything is sent; on goes on where it was"))
    .addHelpText("after", `\nOptions that are left out change nothing.${URL_FROM_STDIN}`)
    .action(changeWebhook);
  const remove = withWebhook(new Command("delete").description("delete a webhook"))
    .option("--yes", "do not ask for confirmation")
    .action(deleteWebhook);
  const rotate = withWebhook(
    new Command("rotate").description("give a webhook a new secret, and print it once"),
  )
    .addHelpText("after", "\nFor 24 hours the old secret signs too.")
    .action(rotateWebhook);
  const test = withWebhook(
    new Command("test").description("send a test message; exit code 1 if it is not accepted"),
  ).action(testWebhook);
  const redeliver = withWebhook(new Command("redeliver").description("send events again"))
    .addOption(
      new Option(
        "--after <place>",
        "the id of an event: what follows it is sent; earliest for all that is kept, now to leave out what waits",
      ).makeOptionMandatory(),
    )
    .action(redeliverEvents);
  const deliveries = withWebhook(
    new Command("deliveries").description("list the last 100 attempts, newest first"),
  )
    .option("--limit <number>", "show at most this many", parseLimit)
    .action(listDeliveries);
  const webhooks = new Command("webhooks").description(
    "send events to Discord and to programs: create, list, change, test and delete webhooks",
  );
  for (const command of [list, create, show, change, remove, rotate, test, redeliver, deliveries])
    webhooks.addCommand(addSessionOptions(command));
  return webhooks;
}

function withWebhook(command: Command): Command {
  return command.argument("[webhook]", "label or id of the webhook");
}

function languageOption(): Option {
  return new Option("--language <language>", "of the messages to Discord").choices(WEBHOOK_LANGUAGES);
}

function onOrOff(flags: string, description: string): Option {
  return new Option(flags, description).choices(["on", "off"]);
}

type ListOptions = SessionOptions & {
  readonly server?: string;
  readonly ids?: boolean;
  readonly limit?: number;
};

async function listWebhooks(options: ListOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = options.server === undefined ? undefined : await getServerId(session, options.server);
  const request = { path: ["webhooks"], query: { server_id: serverId } };
  await listAndShow<WebhookResource>(session, request, options.limit, async ({ items }) => {
    if (items.length === 0)
      return session.printer.printLine("no webhooks: gatehouse webhooks create makes one");
    printWebhooks(session, items, await readServerNames(session), options.ids === true);
  });
}

type CreateOptions = SessionOptions &
  Partial<Pick<NewWebhook, "label" | "format" | "language">> & {
    readonly server?: string;
    readonly types?: string;
    readonly showJoinKey?: boolean;
  };

async function createWebhook(options: CreateOptions): Promise<void> {
  const session = await openSession(options);
  const { types, language, showJoinKey } = options;
  const serverId = await obtainServerId(session, options.server, "name it with --server");
  if (!session.canAsk) {
    if (options.format === undefined) failUsage(`no format: --format ${WEBHOOK_FORMATS.join(", ")}`);
    if (options.label === undefined) failUsage("no label: say what the webhook is for with --label");
  }
  const format = options.format ?? (await askFormat());
  const label = options.label ?? (await askText("What is the webhook for? (label)"));
  const body: NewWebhook = {
    server_id: serverId,
    label,
    format,
    url: await obtainSecret(session, "Address"),
    ...(types !== undefined && { types: parseTypes(types) }),
    ...(language !== undefined && { language }),
    ...(showJoinKey && { show_join_key: true }),
  };
  const request = { method: "POST", path: ["webhooks"], body } as const;
  await callAndShow<WebhookWithSecret>(session, request, async ({ secret, ...webhook }) => {
    await printWebhook(session, webhook);
    if (webhook.format === "standard") printSecret(session.printer, secret);
    session.printer.printLine(`\u2192 gatehouse webhooks test ${webhook.webhook_id} sends a message`, "dim");
  });
}

const HINTS: Readonly<Record<NewWebhook["format"], string>> = {
  standard: "each event as a signed request, for a program",
  discord: "messages in a Discord channel",
  "discord-status": "one message in a Discord channel that shows the state",
};

async function askFormat(): Promise<NewWebhook["format"]> {
  const choices = WEBHOOK_FORMATS.map((value) => ({ value, label: value, hint: HINTS[value] }));
  const chosen = await askChoice("What does the receiver get?", choices);
  return WEBHOOK_FORMATS.find((format) => format === chosen) ?? "standard";
}

async function showWebhook(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const webhookId = await obtainWebhookId(session, reference, "show");
  await callAndShow<WebhookResource>(session, requestFor(webhookId), (webhook) =>
    printWebhook(session, webhook),
  );
}

type Switch = "on" | "off";
type ChangeOptions = SessionOptions &
  Pick<WebhookUpdate, "label" | "language"> & {
    readonly newUrl?: boolean;
    readonly types?: string;
    readonly showJoinKey?: Switch;
    readonly enabled?: Switch;
  };

async function changeWebhook(reference: string | undefined, options: ChangeOptions): Promise<void> {
  const { label, newUrl, types, language, showJoinKey, enabled } = options;
  const given = [label, newUrl, types, language, showJoinKey, enabled];
  if (given.every((value) => value === undefined))
    failUsage("nothing to change: gatehouse webhooks change --help has the options");
  const session = await openSession(options);
  const webhookId = await obtainWebhookId(session, reference, "change");
  const body: WebhookUpdate = {
    ...(label !== undefined && { label }),
    ...(newUrl && { url: await obtainSecret(session, "Address") }),
    ...(types !== undefined && { types: parseTypes(types) }),
    ...(language !== undefined && { language }),
    ...(showJoinKey !== undefined && { show_join_key: showJoinKey === "on" }),
    ...(enabled !== undefined && { enabled: enabled === "on" }),
  };
  const request = { ...requestFor(webhookId), method: "PATCH", body } as const;
  await callAndShow<WebhookResource>(session, request, (webhook) => printWebhook(session, webhook));
}

type DeleteOptions = SessionOptions & { readonly yes?: boolean };

async function deleteWebhook(reference: string | undefined, options: DeleteOptions): Promise<void> {
  const session = await openSession(options);
  const webhookId = await obtainWebhookId(session, reference, "delete");
  await confirmOrFail(session, options.yes, async () => {
    const { body } = await session.admin.call<WebhookResource>(requestFor(webhookId));
    return `Delete ${body.label} (${webhookId})? What it has still to send is not sent, and its secret is gone.`;
  });
  await callAndShow(session, { ...requestFor(webhookId), method: "DELETE" }, () =>
    session.printer.printLine(`${webhookId} is deleted`),
  );
}

async function rotateWebhook(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const webhookId = await obtainWebhookId(session, reference, "rotate");
  const request = {
    ...requestFor(webhookId),
    method: "POST",
    path: ["webhooks", webhookId, "rotate"],
  } as const;
  await callAndShow<RotatedWebhook>(session, request, ({ webhook_id, secret }) => {
    session.printer.printFields([
      ["webhook", webhook_id],
      ["old secret", "signs too for 24 hours"],
    ]);
    printSecret(session.printer, secret);
  });
}

async function testWebhook(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const webhookId = await obtainWebhookId(session, reference, "test");
  const request = {
    ...requestFor(webhookId),
    method: "POST",
    path: ["webhooks", webhookId, "test"],
  } as const;
  const { text, body: result } = await session.admin.call<WebhookTestResult>(request);
  if (result.error !== null) process.exitCode = EXIT_CODES.failed;
  if (session.wantsJson) process.stdout.write(`${text.trimEnd()}\n`);
  else session.printer.printLine(...describeTest(result));
}

function describeTest({ status, duration_ms, error }: WebhookTestResult): [string, "green" | "red"] {
  if (error === null) return [`the receiver accepted it: ${status}, ${duration_ms} ms`, "green"];
  if (status === null) return [`no answer came: ${error}, ${duration_ms} ms`, "red"];
  return [`the receiver refused it: ${status}, ${duration_ms} ms: ${error}`, "red"];
}

type RedeliverOptions = SessionOptions & { readonly after: string };

async function redeliverEvents(reference: string | undefined, options: RedeliverOptions): Promise<void> {
  const session = await openSession(options);
  const webhookId = await obtainWebhookId(session, reference, "redeliver");
  const body = { after: options.after };
  const path = ["webhooks", webhookId, "redeliver"];
  const request = { ...requestFor(webhookId), method: "POST", path, body } as const;
  await callAndShow<WebhookResource>(session, request, (webhook) =>
    session.printer.printLine(
      `${webhook.label} (${webhookId}) has ${describeWaiting(webhook)} events to send`,
    ),
  );
}

async function listDeliveries(
  reference: string | undefined,
  options: SessionOptions & { readonly limit?: number },
): Promise<void> {
  const session = await openSession(options);
  const webhookId = await obtainWebhookId(session, reference, "deliveries");
  const request = { ...requestFor(webhookId), path: ["webhooks", webhookId, "deliveries"] };
  await listAndShow<DeliveryResource>(session, request, options.limit, ({ items }) => {
    if (items.length === 0) return session.printer.printLine("nothing was sent yet");
    printDeliveries(session, items);
  });
}

function requestFor(webhookId: string) {
  const notFoundMessage = `there is no webhook ${webhookId}: gatehouse webhooks list shows them`;
  return { path: ["webhooks", webhookId], notFoundMessage };
}

/** Null for all. */
function parseTypes(text: string): string[] | null {
  return text === ALL_TYPES ? null : text.split(",").map((name) => name.trim());
}

const COLUMNS: readonly Column[] = [
  { title: "LABEL" },
  { title: "SERVER" },
  { title: "FORMAT", isWhole: true },
  { title: "STATE", isWhole: true },
  { title: "WAITING", isWhole: true },
  { title: "LAST SUCCESS", isWhole: true },
];
const ID_COLUMN: Column = { title: "WEBHOOK", isWhole: true };

/** The ids are wider than anything else, so they are printed on request only. */
export function printWebhooks(
  { printer, now }: Screen,
  webhooks: readonly WebhookResource[],
  servers: Names,
  showsIds: boolean,
): void {
  const rows = webhooks.map((webhook): Cell[] => [
    ...(showsIds ? [webhook.webhook_id] : []),
    webhook.label,
    servers.get(webhook.server_id) ?? webhook.server_id,
    webhook.format,
    describeState(webhook),
    describeWaiting(webhook),
    webhook.last_success_at === null ? "never" : formatShortTime(webhook.last_success_at, now()),
  ]);
  printer.printTable(showsIds ? [ID_COLUMN, ...COLUMNS] : COLUMNS, rows);
  const reasons = webhooks.flatMap(({ label, disabled_reason }): Field[] =>
    disabled_reason === null ? [] : [[shorten(escapeUnsafe(label), LABEL_WIDTH_MAX), disabled_reason]],
  );
  if (reasons.length === 0) return;
  printer.printLine("");
  printer.printFields(reasons);
}

async function printWebhook(session: Session, webhook: WebhookResource): Promise<void> {
  const now = session.now();
  const fields: Field[] = [
    ["webhook", webhook.webhook_id],
    ["label", webhook.label],
    ["server", await nameServer(session, webhook.server_id)],
    ["address", `${webhook.url}/…`],
    ["format", webhook.format],
    ["types", webhook.types?.join(", ") ?? ALL_TYPES],
    ["language", webhook.language],
    ["join key", webhook.show_join_key ? "shown" : "not shown"],
    ["state", describeState(webhook)],
    ...(webhook.disabled_reason === null ? [] : [["disabled because", webhook.disabled_reason] as const]),
    ["waiting", describeWaiting(webhook)],
    ["last success", describeMoment(webhook.last_success_at, now)],
    ["last failure", describeMoment(webhook.last_failure_at, now)],
    ["created", describeMoment(webhook.created_at, now)],
  ];
  session.printer.printFields(fields);
}

export function printDeliveries({ printer, now }: Screen, deliveries: readonly DeliveryResource[]): void {
  printer.printTable(
    [
      { title: "AT", isWhole: true },
      { title: "STATUS", isWhole: true },
      { title: "TOOK", isWhole: true },
      { title: "EVENTS" },
      { title: "ERROR" },
    ],
    deliveries.map(({ at, status, duration_ms, event_ids, error }) => [
      formatShortTime(at, now()),
      { text: status === null ? "none" : String(status), colour: error === null ? "green" : "red" },
      `${duration_ms} ms`,
      event_ids.length > 1 ? `${event_ids[0]} and ${event_ids.length - 1} more` : (event_ids[0] ?? "-"),
      error ?? "-",
    ]),
  );
}

/** Failing: the last attempt that is known failed, and it is tried again. */
function describeState({ enabled, last_success_at, last_failure_at }: WebhookResource): Cell {
  if (!enabled) return { text: "disabled", colour: "red" };
  const isFailing = last_failure_at !== null && last_failure_at > (last_success_at ?? 0);
  return isFailing ? { text: "failing", colour: "yellow" } : { text: "enabled", colour: "green" };
}

function describeWaiting({ waiting }: WebhookResource): string {
  return waiting >= WAITING_MAX ? `${WAITING_MAX} or more` : String(waiting);
}

function describeMoment(moment: number | null, now: number): string {
  return moment === null ? "never" : `${formatMoment(moment)} (${formatRelativeTime(moment, now)})`;
}

function printSecret(printer: Printer, secret: string): void {
  printer.printLine("");
  printer.printLine(secret, "bold");
  printer.printLine("This secret is shown only now: the receiver checks signatures with it.", "dim");
}

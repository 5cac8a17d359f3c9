// gatehouse webhooks: creates, lists, changes, tests and deletes webhooks, and shows what they delivered.
import type { Command } from "commander";
import { WAITING_MAX, WEBHOOK_FORMATS, WEBHOOK_LANGUAGES } from "../../core/webhooks/webhook.ts";
import type {
  DeliveryResource,
  NewWebhook,
  RotatedWebhook,
  WebhookResource,
  WebhookTestResult,
  WebhookUpdate,
  WebhookWithSecret,
} from "../../core/wire/webhook.ts";
import {
  adminCommand,
  adminGroup,
  type Session,
  type SessionOptions,
  withLimit,
  withYes,
} from "../connection/session.ts";
import { EXIT_CODES, failUsage } from "../exit-codes.ts";
import { printResources, type ResourceField, type Screen, showMoment } from "../terminal/fields.ts";
import type { Cell, Printer } from "../terminal/printer.ts";
import { askChoice, askText } from "../terminal/prompts.ts";
import {
  describeResource,
  findServerId,
  obtainId,
  readServerNames,
  requestFor,
  resourceCommand,
  SERVERS,
  WEBHOOKS,
} from "./find-resource.ts";
import { checkGiven, checkTypes, choice, isOn, type Settings, toFields } from "./settings.ts";

const URL_FROM_STDIN =
  "\nThe address is read from a prompt or from the first line of standard input, never from an argument: it may hold a token.";
const ALL_TYPES = "all";
const NEW_SETTINGS: Settings<NewWebhook> = {
  types: ["types", parseTypes],
  language: ["language"],
  showJoinKey: ["show_join_key"],
};
const SETTINGS: Settings<WebhookUpdate> = {
  label: ["label"],
  types: ["types", parseTypes],
  language: ["language"],
  showJoinKey: ["show_join_key", isOn],
  enabled: ["enabled", isOn],
};

const FIELDS: readonly ResourceField<WebhookResource>[] = [
  { name: "webhook", show: ({ webhook_id }) => webhook_id, isWhole: true },
  { name: "label", show: ({ label }) => label },
  { name: "server", show: ({ server_id }, { nameOf }) => nameOf(server_id) },
  { name: "address", show: ({ url }) => `${url}/…` },
  { name: "format", show: ({ format }) => format, isWhole: true },
  { name: "types", show: ({ types }) => types?.join(", ") ?? ALL_TYPES },
  { name: "language", show: ({ language }) => language },
  { name: "join key", show: ({ show_join_key }) => (show_join_key ? "shown" : "not shown") },
  { name: "state", show: describeState, isWhole: true },
  { name: "disabled because", show: ({ disabled_reason }) => disabled_reason },
  { name: "waiting", show: describeWaiting, isWhole: true },
  { name: "last success", show: ({ last_success_at }, look) => showMoment(last_success_at, look), isWhole: true },
  { name: "last failure", show: ({ last_failure_at }, look) => showMoment(last_failure_at, look) },
  { name: "created", show: ({ created_at }, look) => showMoment(created_at, look) },
];
const COLUMNS = ["label", "server", "format", "state", "waiting", "last success"];

export const DELIVERY_FIELDS: readonly ResourceField<DeliveryResource>[] = [
  { name: "at", show: ({ at }, look) => showMoment(at, look), isWhole: true },
  {
    name: "status",
    show: ({ status, error }) => ({ text: String(status ?? "none"), colour: error === null ? "green" : "red" }),
    isWhole: true,
  },
  { name: "took", show: ({ duration_ms }) => `${duration_ms} ms`, isWhole: true },
  {
    name: "events",
    show: ({ event_ids: [first = "-", ...more] }) => (more.length > 0 ? `${first} and ${more.length} more` : first),
  },
  { name: "error", show: ({ error }) => error },
];

export function createWebhooksCommand(): Command {
  const description = "send events to Discord and to programs: create, list, change, test and delete webhooks";
  return adminGroup("webhooks", description, [
    withLimit(
      adminCommand("list", "list the webhooks and how they are", listWebhooks)
        .option("--server <server>", "only those of this server (id or name)")
        .option("--ids", "show the ids of the webhooks"),
    ),
    adminCommand("create", "create a webhook and print its secret, once", createWebhook)
      .option("--server <server>", "id or name of the game server whose events it gets")
      .option("--label <text>", "what it is for")
      .addOption(
        choice("--format <format>", "what the receiver gets: events for a program, or messages", WEBHOOK_FORMATS),
      )
      .option("--types <types>", "only these types of events: player.*,modcall.opened (default: all)", checkTypesOrAll)
      .addOption(choice("--language <language>", "of the messages to Discord", WEBHOOK_LANGUAGES))
      .option("--show-join-key", "tell the server's join key in Discord")
      .addHelpText("after", URL_FROM_STDIN),
    resourceCommand(WEBHOOKS, "show", "show a webhook", showWebhook),
    resourceCommand(WEBHOOKS, "change", "change a webhook", changeWebhook, (options: ChangeOptions) =>
      checkGiven({ ...SETTINGS, newUrl: ["url"] }, options, "webhooks change"),
    )
      .option("--label <text>", "what it is for")
      .option("--new-url", "read a new address from a prompt or standard input")
      .option("--types <types>", `only these types of events, or ${ALL_TYPES}`, checkTypesOrAll)
      .addOption(choice("--language <language>", "of the messages to Discord", WEBHOOK_LANGUAGES))
      .addOption(choice("--show-join-key <on|off>", "whether Discord is told the server's join key"))
      .addOption(choice("--enabled <on|off>", "whether anything is sent; on goes on where it was"))
      .addHelpText("after", `\nOptions that are left out change nothing.${URL_FROM_STDIN}`),
    withYes(resourceCommand(WEBHOOKS, "delete", "delete a webhook", deleteWebhook)),
    resourceCommand(WEBHOOKS, "rotate", "give a webhook a new secret, and print it once", rotateWebhook).addHelpText(
      "after",
      "\nFor 24 hours the old secret signs too.",
    ),
    resourceCommand(WEBHOOKS, "test", "send a test message; exit code 1 if it is not accepted", testWebhook),
    resourceCommand(WEBHOOKS, "redeliver", "send events again", redeliverEvents).requiredOption(
      "--after <place>",
      "the id of an event: what follows it is sent; earliest for all that is kept, now to leave out what waits",
    ),
    withLimit(resourceCommand(WEBHOOKS, "deliveries", "list the last 100 attempts, newest first", listDeliveries)),
  ]);
}

async function listWebhooks(session: Session, options: SessionOptions): Promise<void> {
  const request = { path: ["webhooks"], query: { server_id: await findServerId(session, options.server) } };
  const none = "no webhooks: gatehouse webhooks create makes one";
  await session.list<WebhookResource>(request, options.limit, none, async (webhooks) =>
    printWebhooks(session, webhooks, await readServerNames(session), options.ids === true),
  );
}

type CreateOptions = SessionOptions & Partial<Pick<NewWebhook, "label" | "format">>;

async function createWebhook(session: Session, options: CreateOptions): Promise<void> {
  const serverId = await obtainId(session, SERVERS, options.server, "name it with --server");
  if (!session.canAsk) {
    if (options.format === undefined) failUsage(`no format: --format ${WEBHOOK_FORMATS.join(", ")}`);
    if (options.label === undefined) failUsage("no label: say what the webhook is for with --label");
  }
  const format = options.format ?? (await askFormat());
  const label = options.label ?? (await askText("What is the webhook for? (label)"));
  const url = await session.obtainSecret("Address");
  const body = { server_id: serverId, label, format, url, ...toFields(NEW_SETTINGS, options) };
  await session.call<WebhookWithSecret>(
    { method: "POST", path: ["webhooks"], body },
    async ({ secret, ...webhook }) => {
      await printWebhook(session, webhook);
      if (webhook.format === "standard") printSecret(session.printer, secret);
      session.printer.printLine(`\u2192 gatehouse webhooks test ${webhook.webhook_id} sends a message`, "dim");
    },
  );
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

async function showWebhook(session: Session, webhookId: string): Promise<void> {
  await session.call<WebhookResource>(requestFor(WEBHOOKS, webhookId), (webhook) => printWebhook(session, webhook));
}

type ChangeOptions = SessionOptions & { readonly newUrl?: boolean };

async function changeWebhook(session: Session, webhookId: string, options: ChangeOptions): Promise<void> {
  const url = options.newUrl && { url: await session.obtainSecret("Address") };
  const body = { ...toFields(SETTINGS, options), ...url };
  const request = { ...requestFor(WEBHOOKS, webhookId), method: "PATCH", body } as const;
  await session.call<WebhookResource>(request, (webhook) => printWebhook(session, webhook));
}

async function deleteWebhook(session: Session, webhookId: string, { yes }: SessionOptions): Promise<void> {
  const request = requestFor(WEBHOOKS, webhookId);
  await session.confirm(yes, async () => {
    const { body } = await session.admin.call<WebhookResource>(request);
    return `Delete ${body.label} (${webhookId})? What it has still to send is not sent, and its secret is gone.`;
  });
  await session.call({ ...request, method: "DELETE" }, () => session.printer.printLine(`${webhookId} is deleted`));
}

async function rotateWebhook(session: Session, webhookId: string): Promise<void> {
  const request = { ...requestFor(WEBHOOKS, webhookId, "rotate"), method: "POST" } as const;
  await session.call<RotatedWebhook>(request, ({ webhook_id, secret }) => {
    session.printer.printFields([
      ["webhook", webhook_id],
      ["old secret", "signs too for 24 hours"],
    ]);
    printSecret(session.printer, secret);
  });
}

async function testWebhook(session: Session, webhookId: string): Promise<void> {
  const request = { ...requestFor(WEBHOOKS, webhookId, "test"), method: "POST" } as const;
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

async function redeliverEvents(session: Session, webhookId: string, { after }: RedeliverOptions): Promise<void> {
  const request = { ...requestFor(WEBHOOKS, webhookId, "redeliver"), method: "POST", body: { after } } as const;
  await session.call<WebhookResource>(request, (webhook) =>
    session.printer.printLine(`${webhook.label} (${webhookId}) has ${describeWaiting(webhook)} events to send`),
  );
}

async function listDeliveries(session: Session, webhookId: string, { limit }: SessionOptions): Promise<void> {
  const request = requestFor(WEBHOOKS, webhookId, "deliveries");
  await session.list<DeliveryResource>(request, limit, "nothing was sent yet", (deliveries) =>
    printResources(session, DELIVERY_FIELDS, deliveries),
  );
}

function checkTypesOrAll(text: string): string {
  return text === ALL_TYPES ? text : checkTypes(text);
}

/** Null for all. */
function parseTypes(text: string): string[] | null {
  return text === ALL_TYPES ? null : text.split(",");
}

/** The ids are wide, so they are printed on request only. Below the table stands why webhooks are disabled. */
export function printWebhooks(
  screen: Screen,
  webhooks: readonly WebhookResource[],
  servers: ReadonlyMap<string, string>,
  showsIds: boolean,
): void {
  printResources(screen, FIELDS, webhooks, showsIds ? ["webhook", ...COLUMNS] : COLUMNS, servers);
  screen.printer.printRemarks(
    webhooks.flatMap(({ label, disabled_reason }) => (disabled_reason === null ? [] : [[label, disabled_reason]])),
  );
}

async function printWebhook(session: Session, webhook: WebhookResource): Promise<void> {
  session.printer.printFields(await describeResource(session, FIELDS, webhook));
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

function printSecret(printer: Printer, secret: string): void {
  printer.printLine("");
  printer.printLine(secret, "bold");
  printer.printLine("This secret is shown only now: the receiver checks signatures with it.", "dim");
}

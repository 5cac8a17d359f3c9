// gatehouse alerts: shows and sets the rules by which a server raises alerts.
import { type Command, InvalidArgumentError } from "commander";
import { type AlertRules, hasRules, NO_ALERTS, SUGGESTED_ALERTS } from "../../core/alerts/rules.ts";
import { tellsAlerts } from "../../core/webhooks/webhook.ts";
import type { ServerResource } from "../../core/wire/server.ts";
import type { WebhookResource } from "../../core/wire/webhook.ts";
import { readEnvironment } from "../../instance/config.ts";
import { adminCommand, adminGroup, Session, type SessionOptions, showOrFail, withYes } from "../connection/session.ts";
import { CommandFailed, EXIT_CODES, type ExitCode, failUsage } from "../exit-codes.ts";
import { openStandardPrinter, type Printer } from "../terminal/printer.ts";
import { obtainId, requestFor, SERVERS } from "./find-resource.ts";
import { type Settings, toFields } from "./settings.ts";

const OFF = "off";

export function createAlertsCommand(): Command {
  const group = adminGroup("alerts", "raise an alert when something is wrong on a server: show and set the rules", [
    adminCommand("show", "show the rules of a server", showRules, checkServers),
    adminCommand("set", "set rules; those that are left out stay as they are", setRules, checkRules)
      .option("--kills <count/seconds>", "somebody kills so many players in so many seconds: 5/60", parseKills)
      .option(
        "--mass-command <patterns>",
        "somebody uses a command that begins so: ':ban all,:kick all'",
        parsePatterns,
      )
      .option("--unanswered <minutes>", "nobody answers a call for a moderator for so long", parseMinutes)
      .option("--offline <minutes>", "the server is offline for so long", parseMinutes)
      .option("--unreachable <minutes>", "the game API gives no answer about it for so long", parseMinutes)
      .option(
        "--players <limits>",
        "too few or too many players for so many minutes: 'below 5 for 30', 'above 38 for 10', 'below 5 above 38 for 30'",
        parsePlayers,
      )
      .addHelpText("after", `\nEach option takes ${OFF} too.`),
    withYes(adminCommand("suggest", "print rules that suit most servers; with --apply set them", () => {}))
      .option("--apply", "set them: they replace all rules of the server")
      .action(suggestRules),
    withYes(adminCommand("off", "switch off all rules of a server", switchOff, checkServers)),
  ]);
  for (const command of group.commands)
    command.argument("[server]", "name or id of the server").option("--all", "for every server");
  return group;
}

type AlertOptions = SessionOptions & { readonly all?: boolean; readonly apply?: boolean };
/** What fails for one server for such a reason fails for every server. */
const FAILS_FOR_ALL: readonly ExitCode[] = [EXIT_CODES.refused, EXIT_CODES.masterKey];
type ServerRules = Pick<ServerResource, "server_id" | "name"> & { readonly rules: AlertRules };

function checkServers({ all }: AlertOptions, reference: string | undefined): void {
  if (all && reference !== undefined) failUsage("name a server or give --all, not both");
}

async function findServers(session: Session, { all }: AlertOptions, reference: string | undefined) {
  if (all) return (await session.admin.list<ServerResource>({ path: ["servers"] })).items;
  const howToName = "name it: gatehouse alerts show <server>, or give --all";
  const server_id = await obtainId(session, SERVERS, reference, howToName);
  return [{ server_id, name: server_id }];
}

/** Shows the rules of the servers, after they were changed if there is a change. A server that fails does not stop the others. */
async function visitServers(
  session: Session,
  options: AlertOptions,
  servers: readonly Pick<ServerResource, "server_id" | "name">[],
  change?: (before: AlertRules) => AlertRules,
): Promise<void> {
  const found: ServerRules[] = [];
  const failed: string[] = [];
  let failure: CommandFailed | undefined;
  for (const { server_id, name } of servers) {
    try {
      const request = requestFor(SERVERS, server_id, "alerts");
      const { body: before } = await session.admin.call<AlertRules>(request);
      const put = change && ({ ...request, method: "PUT", body: change(before) } as const);
      found.push({ server_id, name, rules: put ? (await session.admin.call<AlertRules>(put)).body : before });
    } catch (error) {
      if (!(error instanceof CommandFailed) || !options.all || FAILS_FOR_ALL.includes(error.exitCode)) throw error;
      failed.push(name);
      failure ??= error;
    }
  }
  await showFound(session, options, found);
  if (!failure) return;
  const repeat = change ? "; the same command again sets them too" : "";
  throw new CommandFailed(`not ${failed.join(", ")}: ${failure.message}${repeat}`, failure.exitCode);
}

async function showFound(session: Session, options: AlertOptions, found: readonly ServerRules[]): Promise<void> {
  if (session.wantsJson) {
    const items = found.map(({ server_id, rules }) => ({ server_id, rules }));
    process.stdout.write(`${JSON.stringify(options.all ? { items } : items[0]?.rules)}\n`);
    return;
  }
  await showOrFail(async () => {
    if (options.all) printFleet(session.printer, found);
    else for (const { rules } of found) printRules(session.printer, rules);
    if (found.some(({ rules }) => hasRules(rules))) await printUnheard(session, options, found);
  });
}

function printFleet(printer: Printer, servers: readonly ServerRules[]): void {
  printer.printTable(
    [{ title: "SERVER" }, { title: "ALERTS" }],
    servers.map(({ name, rules }) => [name, Object.keys(rules).join(", ").replaceAll("_", " ") || OFF]),
  );
}

/** Rules that no webhook tells of may be meant for programs that read streams, so this is no failure. */
async function printUnheard(session: Session, { all }: AlertOptions, servers: readonly ServerRules[]): Promise<void> {
  const { items } = await session.admin.list<WebhookResource>({ path: ["webhooks"] });
  const heard = new Set(items.filter(tellsAlerts).map(({ server_id }) => server_id));
  const unheard = servers.filter(({ server_id, rules }) => hasRules(rules) && !heard.has(server_id));
  if (unheard.length === 0) return;
  const names = all ? ` of ${unheard.map(({ name }) => name).join(", ")}` : "";
  session.printer.printLine(
    `No webhook tells the alerts${names}: they are in the dashboard, and on streams that somebody reads.`,
    "yellow",
  );
  session.printer.printLine('\u2192 gatehouse webhooks create --types "alert.*" makes one', "dim");
}

async function showRules(session: Session, options: AlertOptions, reference: string | undefined): Promise<void> {
  await visitServers(session, options, await findServers(session, options, reference));
}

type Given<Rule> = Rule | typeof OFF | undefined;

/** Each option is parsed by the command line already. */
const RULES: Settings<AlertRules> = {
  kills: ["kills"],
  massCommand: ["mass_command"],
  unanswered: ["unanswered_modcall"],
  offline: ["offline"],
  unreachable: ["unreachable"],
  players: ["players"],
};

function checkRules(options: AlertOptions, reference: string | undefined): void {
  checkServers(options, reference);
  if (Object.keys(toFields(RULES, options)).length === 0)
    failUsage("nothing to set: gatehouse alerts set --help has the options");
}

async function setRules(session: Session, options: AlertOptions, reference: string | undefined): Promise<void> {
  const servers = await findServers(session, options, reference);
  await visitServers(session, options, servers, (before) => mergeRules(before, toFields(RULES, options)));
}

/** Undefined leaves a rule as it is. */
export function mergeRules(before: AlertRules, given: { readonly [Rule in keyof AlertRules]?: unknown }): AlertRules {
  const changes = Object.entries(given).filter(([, rule]) => rule !== undefined);
  const rules: Record<string, unknown> = { ...before, ...Object.fromEntries(changes) };
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== OFF));
}

/** Without --apply it needs no Gatehouse. */
async function suggestRules(reference: string | undefined, options: AlertOptions): Promise<void> {
  if (options.apply) {
    checkServers(options, reference);
    const session = await Session.open(options);
    const servers = await findServers(session, options, reference);
    if (options.all)
      await session.confirm(
        options.yes,
        () => `Replace all rules of all ${servers.length} servers by the suggested ones?`,
      );
    return await visitServers(session, options, servers, () => SUGGESTED_ALERTS);
  }
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(SUGGESTED_ALERTS)}\n`);
    return;
  }
  const printer = openStandardPrinter(readEnvironment(process.cwd(), {}));
  printRules(printer, SUGGESTED_ALERTS);
  printer.printLine("\u2192 gatehouse alerts suggest <server> --apply sets them", "dim");
}

async function switchOff(session: Session, options: AlertOptions, reference: string | undefined): Promise<void> {
  const servers = await findServers(session, options, reference);
  const whose = options.all ? `all ${servers.length} servers` : servers[0]?.server_id;
  await session.confirm(options.yes, () => `Switch off all alerts of ${whose}?`);
  await visitServers(session, options, servers, () => NO_ALERTS);
}

export function printRules(printer: Printer, rules: AlertRules): void {
  const { kills, mass_command, unanswered_modcall, offline, unreachable, players } = rules;
  const last = (rule: { readonly minutes: number } | undefined) =>
    rule ? `for ${rule.minutes} minute${rule.minutes === 1 ? "" : "s"}` : OFF;
  printer.printTable(
    [{ title: "ALERT", isWhole: true }, { title: "WHEN" }],
    [
      ["kills", kills ? `${kills.count} within ${kills.seconds} seconds` : OFF],
      ["mass command", mass_command?.patterns.join(", ") ?? OFF],
      ["unanswered modcall", last(unanswered_modcall)],
      ["offline", last(offline)],
      ["unreachable", last(unreachable)],
      ["players", players ? `${describeLimits(players)} ${last(players)}` : OFF],
    ],
  );
  if (!hasRules(rules)) printer.printLine("\u2192 gatehouse alerts suggest prints rules that suit most servers", "dim");
}

function describeLimits({ below, above }: NonNullable<AlertRules["players"]>): string {
  const limits = [below !== undefined && `fewer than ${below}`, above !== undefined && `more than ${above}`];
  return limits.filter(Boolean).join(" or ");
}

/** Only the form is checked here: the limits are the server's. */
export function parseKills(text: string): Given<AlertRules["kills"]> {
  if (text === OFF) return OFF;
  const [, count, seconds] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError("expected count/seconds, such as 5/60, or off");
  return { count: Number(count), seconds: Number(seconds) };
}

export function parsePatterns(text: string): Given<AlertRules["mass_command"]> {
  return text === OFF ? OFF : { patterns: text.split(",").map((pattern) => pattern.trim()) };
}

export function parseMinutes(text: string): { readonly minutes: number } | typeof OFF {
  if (text === OFF) return OFF;
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("expected a number of minutes, or off");
  return { minutes: Number(text) };
}

export function parsePlayers(text: string): Given<AlertRules["players"]> {
  if (text === OFF) return OFF;
  const form = /^(?:below (?<below>\d{1,6}) ?)?(?:above (?<above>\d{1,6}) ?)?for (?<minutes>\d{1,6})$/;
  const { below, above, minutes } = form.exec(text.trim().replace(/\s+/g, " "))?.groups ?? {};
  if (minutes === undefined || (below === undefined && above === undefined))
    throw new InvalidArgumentError("expected limits and minutes, such as 'below 5 for 30', or off");
  return {
    ...(below !== undefined && { below: Number(below) }),
    ...(above !== undefined && { above: Number(above) }),
    minutes: Number(minutes),
  };
}

// gatehouse alerts: shows and sets the rules by which a server raises alerts.
import { type Command, InvalidArgumentError } from "commander";
import { type AlertRules, hasRules, NO_ALERTS, SUGGESTED_ALERTS } from "../../core/alerts/rules.ts";
import { readEnvironment } from "../../instance/config.ts";
import { adminCommand, adminGroup, Session, type SessionOptions, withYes } from "../connection/session.ts";
import { failUsage } from "../exit-codes.ts";
import { openStandardPrinter, type Printer } from "../terminal/printer.ts";
import { obtainId, requestFor, SERVERS } from "./find-resource.ts";
import { type Settings, toFields } from "./settings.ts";

const OFF = "off";

export function createAlertsCommand(): Command {
  const group = adminGroup("alerts", "raise an alert when something is wrong on a server: show and set the rules", [
    adminCommand("show", "show the rules of a server", showRules),
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
    adminCommand("suggest", "print rules that suit most servers; with --apply set them", () => {})
      .option("--apply", "set them: they replace all rules of the server")
      .action(suggestRules),
    withYes(adminCommand("off", "switch off all rules of a server", switchOff)),
  ]);
  for (const command of group.commands) command.argument("[server]", "name or id of the server");
  return group;
}

async function showRules(session: Session, _: SessionOptions, reference: string | undefined): Promise<void> {
  const request = await makeRequest(session, reference);
  await session.call<AlertRules>(request, (rules) => printRules(session.printer, rules));
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

function checkRules(options: SessionOptions): void {
  if (Object.keys(toFields(RULES, options)).length === 0)
    failUsage("nothing to set: gatehouse alerts set --help has the options");
}

async function setRules(session: Session, options: SessionOptions, reference: string | undefined): Promise<void> {
  const request = await makeRequest(session, reference);
  const { body: before } = await session.admin.call<AlertRules>(request);
  await putRules(session, request, mergeRules(before, toFields(RULES, options)));
}

/** Undefined leaves a rule as it is. */
export function mergeRules(before: AlertRules, given: { readonly [Rule in keyof AlertRules]?: unknown }): AlertRules {
  const changes = Object.entries(given).filter(([, rule]) => rule !== undefined);
  const rules: Record<string, unknown> = { ...before, ...Object.fromEntries(changes) };
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== OFF));
}

/** Without --apply it needs no Gatehouse. */
async function suggestRules(
  reference: string | undefined,
  options: SessionOptions & { readonly apply?: boolean },
): Promise<void> {
  if (options.apply) {
    const session = await Session.open(options);
    return await putRules(session, await makeRequest(session, reference), SUGGESTED_ALERTS);
  }
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(SUGGESTED_ALERTS)}\n`);
    return;
  }
  const printer = openStandardPrinter(readEnvironment(process.cwd(), {}));
  printRules(printer, SUGGESTED_ALERTS);
  printer.printLine("\u2192 gatehouse alerts suggest <server> --apply sets them", "dim");
}

async function switchOff(session: Session, { yes }: SessionOptions, reference: string | undefined): Promise<void> {
  const request = await makeRequest(session, reference);
  await session.confirm(yes, () => `Switch off all alerts of ${request.path[1]}?`);
  await putRules(session, request, NO_ALERTS);
}

type RulesRequest = ReturnType<typeof requestFor>;

async function makeRequest(session: Session, reference: string | undefined): Promise<RulesRequest> {
  const serverId = await obtainId(session, SERVERS, reference, "name it: gatehouse alerts show <server>");
  return requestFor(SERVERS, serverId, "alerts");
}

async function putRules(session: Session, request: RulesRequest, rules: AlertRules): Promise<void> {
  await session.call<AlertRules>({ ...request, method: "PUT", body: rules }, (set) => printRules(session.printer, set));
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

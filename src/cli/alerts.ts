// gatehouse alerts: shows and sets the rules by which a server raises alerts.
import { Command, InvalidArgumentError } from "commander";
import { readEnvironment } from "../config.ts";
import { type AlertRules, hasRules, NO_ALERTS, SUGGESTED_ALERTS } from "../core/alerts/rules.ts";
import { failUsage } from "./exit-codes.ts";
import { obtainServerId } from "./find-server.ts";
import { openStandardPrinter, type Printer } from "./printer.ts";
import {
  addSessionOptions,
  callAndShow,
  confirmOrFail,
  openSession,
  type Session,
  type SessionOptions,
} from "./session.ts";

const OFF = "off";
const HOW_TO_NAME = "name it: gatehouse alerts show <server>";

export function createAlertsCommand(): Command {
  const show = withServer(new Command("show").description("show the rules of a server")).action(showRules);
  const set = withServer(
    new Command("set").description("set rules; those that are left out stay as they are"),
  )
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
    .addHelpText("after", `\nEach option takes ${OFF} too.`)
    .action(setRules);
  const suggest = withServer(
    new Command("suggest").description("print rules that suit most servers; with --apply set them"),
  )
    .option("--apply", "set them: they replace all rules of the server")
    .action(suggestRules);
  const off = withServer(new Command("off").description("switch off all rules of a server"))
    .option("--yes", "do not ask for confirmation")
    .action(switchOff);
  const alerts = new Command("alerts").description(
    "raise an alert when something is wrong on a server: show and set the rules",
  );
  for (const command of [show, set, suggest, off]) alerts.addCommand(addSessionOptions(command));
  return alerts;
}

function withServer(command: Command): Command {
  return command.argument("[server]", "name or id of the server");
}

async function showRules(reference: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, HOW_TO_NAME);
  await callAndShow<AlertRules>(session, requestFor(serverId), (rules) => printRules(session.printer, rules));
}

type Given<Rule> = Rule | typeof OFF | undefined;
type SetOptions = SessionOptions & {
  readonly kills?: Given<AlertRules["kills"]>;
  readonly massCommand?: Given<AlertRules["mass_command"]>;
  readonly unanswered?: Given<AlertRules["unanswered_modcall"]>;
  readonly offline?: Given<AlertRules["offline"]>;
  readonly unreachable?: Given<AlertRules["unreachable"]>;
  readonly players?: Given<AlertRules["players"]>;
};

async function setRules(reference: string | undefined, options: SetOptions): Promise<void> {
  const given = {
    kills: options.kills,
    mass_command: options.massCommand,
    unanswered_modcall: options.unanswered,
    offline: options.offline,
    unreachable: options.unreachable,
    players: options.players,
  };
  if (Object.values(given).every((rule) => rule === undefined))
    failUsage("nothing to set: gatehouse alerts set --help has the options");
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, HOW_TO_NAME);
  const { body: before } = await session.admin.call<AlertRules>(requestFor(serverId));
  await putRules(session, serverId, mergeRules(before, given));
}

/** Undefined leaves a rule as it is. */
export function mergeRules(
  before: AlertRules,
  given: { readonly [Rule in keyof AlertRules]: Given<AlertRules[Rule]> },
): AlertRules {
  const changes = Object.entries(given).filter(([, rule]) => rule !== undefined);
  const rules: Record<string, unknown> = { ...before, ...Object.fromEntries(changes) };
  return Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== OFF));
}

async function suggestRules(
  reference: string | undefined,
  options: SessionOptions & { readonly apply?: boolean },
): Promise<void> {
  if (options.apply) {
    const session = await openSession(options);
    const serverId = await obtainServerId(session, reference, HOW_TO_NAME);
    await putRules(session, serverId, SUGGESTED_ALERTS);
    return;
  }
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(SUGGESTED_ALERTS)}\n`);
    return;
  }
  const printer = openStandardPrinter(readEnvironment(process.cwd(), {}));
  printRules(printer, SUGGESTED_ALERTS);
  printer.printLine("\u2192 gatehouse alerts suggest <server> --apply sets them", "dim");
}

async function switchOff(
  reference: string | undefined,
  options: SessionOptions & { readonly yes?: boolean },
): Promise<void> {
  const session = await openSession(options);
  const serverId = await obtainServerId(session, reference, HOW_TO_NAME);
  await confirmOrFail(session, options.yes, async () => `Switch off all alerts of ${serverId}?`);
  await putRules(session, serverId, NO_ALERTS);
}

async function putRules(session: Session, serverId: string, rules: AlertRules): Promise<void> {
  const request = { ...requestFor(serverId), method: "PUT", body: rules } as const;
  await callAndShow<AlertRules>(session, request, (set) => printRules(session.printer, set));
}

function requestFor(serverId: string) {
  const notFoundMessage = `there is no server ${serverId}: gatehouse servers list shows them`;
  return { path: ["servers", serverId, "alerts"], notFoundMessage };
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
  if (!hasRules(rules))
    printer.printLine("\u2192 gatehouse alerts suggest prints rules that suit most servers", "dim");
}

function describeLimits({ below, above }: NonNullable<AlertRules["players"]>): string {
  const limits = [
    ...(below === undefined ? [] : [`fewer than ${below}`]),
    ...(above === undefined ? [] : [`more than ${above}`]),
  ];
  return limits.join(" or ");
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

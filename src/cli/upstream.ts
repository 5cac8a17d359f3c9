// gatehouse upstream: shows the budget of calls to the game API, and ends a pause.
import { Command } from "commander";
import type { UpstreamResource } from "../core/wire/upstream.ts";
import { CommandFailed, failUsage } from "./exit-codes.ts";
import type { Printer } from "./printer.ts";
import { askYes } from "./prompts.ts";
import { addSessionOptions, callAndShow, openSession, type Session, type SessionOptions } from "./session.ts";
import { formatMoment, formatRelativeTime } from "./times.ts";

const SHOW = { path: ["upstream"] };
const RESUME = { method: "POST", path: ["upstream", "resume"] } as const;
const WARNING = "Calls during a limit of the game API can get this address banned for an hour and more.";
const REASONS: Readonly<Record<string, string>> = {
  named_by_game_api: "the game API said how long to wait",
  backoff: "the game API named no time, so Gatehouse chose one",
};

export function createUpstreamCommand(): Command {
  const show = new Command("show")
    .description("show the budget of calls, and whether they are paused")
    .action(showUpstream);
  const resume = new Command("resume")
    .description("call the game API again before a pause is over; this can lead to a ban")
    .option("--yes", "do not ask")
    .action(resumeUpstream);
  const upstream = new Command("upstream").description("look at the calls to the game API, end a pause");
  for (const command of [show, resume]) upstream.addCommand(addSessionOptions(command));
  return upstream;
}

async function showUpstream(options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  await callAndShow<UpstreamResource>(session, SHOW, (upstream) =>
    printUpstream(session.printer, upstream, session.now()),
  );
}

async function resumeUpstream(options: SessionOptions & { readonly yes?: boolean }): Promise<void> {
  const session = await openSession(options);
  if (options.yes !== true) await confirmResume(session);
  await callAndShow<UpstreamResource>(session, RESUME, () =>
    session.printer.printLine("the game API is not paused: it is called as soon as somebody reads"),
  );
}

async function confirmResume(session: Session): Promise<void> {
  if (!session.canAsk) failUsage(`${WARNING} Add --yes to go on.`);
  const { body } = await session.admin.call<UpstreamResource>(SHOW);
  if (body.paused_until === null) return;
  const until = formatMoment(body.paused_until);
  const isSure = await askYes(`The game API is paused until ${until}. ${WARNING} Go on?`);
  if (!isSure) throw new CommandFailed("nothing was changed");
}

function printUpstream(printer: Printer, upstream: UpstreamResource, now: number): void {
  const moment = (at: number | null) => {
    return at === null ? "-" : `${formatMoment(at)} (${formatRelativeTime(at, now)})`;
  };
  const { paused_until, pause_reason, limit, remaining } = upstream;
  printer.printFields([
    ["paused until", paused_until === null ? "not paused" : moment(paused_until)],
    ["reason", pause_reason === null ? "-" : (REASONS[pause_reason] ?? pause_reason)],
    ["last resumed", moment(upstream.resumed_at)],
    ["calls left", limit === null ? "-" : `${remaining ?? "-"} of ${limit}`],
    ["window ends", moment(upstream.reset_at)],
    ["failing servers", String(upstream.failing_servers)],
    ["refused keys", String(upstream.refused_keys)],
    ["global key", upstream.global_key_refused ? "refused" : "not refused"],
  ]);
}

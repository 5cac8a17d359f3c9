// gatehouse upstream: shows the budget of calls to the game API, and ends a pause.
import type { Command } from "commander";
import type { UpstreamResource } from "../../core/wire/upstream.ts";
import { adminCommand, adminGroup, type Session, type SessionOptions } from "../connection/session.ts";
import { CommandFailed, failUsage } from "../exit-codes.ts";
import { listFields, type ResourceField, showMoment } from "../terminal/fields.ts";
import { askYes } from "../terminal/prompts.ts";
import { formatMoment } from "../terminal/times.ts";

const SHOW = { path: ["upstream"] };
const RESUME = { method: "POST", path: ["upstream", "resume"] } as const;
const WARNING = "Calls during a limit of the game API can get this address banned for an hour and more.";
const REASONS: Readonly<Record<string, string>> = {
  named_by_game_api: "the game API said how long to wait",
  backoff: "the game API named no time, so Gatehouse chose one",
};

const FIELDS: readonly ResourceField<UpstreamResource>[] = [
  { name: "paused until", show: ({ paused_until }, look) => showMoment(paused_until, look, "not paused") },
  { name: "reason", show: ({ pause_reason: reason }) => (reason === null ? "-" : (REASONS[reason] ?? reason)) },
  { name: "last resumed", show: ({ resumed_at }, look) => showMoment(resumed_at, look, "-") },
  { name: "calls left", show: ({ limit, remaining }) => (limit === null ? "-" : `${remaining ?? "-"} of ${limit}`) },
  { name: "window ends", show: ({ reset_at }, look) => showMoment(reset_at, look, "-") },
  { name: "failing servers", show: ({ failing_servers }) => String(failing_servers) },
  { name: "refused keys", show: ({ refused_keys }) => String(refused_keys) },
  { name: "global key", show: ({ global_key_refused }) => (global_key_refused ? "refused" : "not refused") },
];

export function createUpstreamCommand(): Command {
  return adminGroup("upstream", "look at the calls to the game API, end a pause", [
    adminCommand("show", "show the budget of calls, and whether they are paused", showUpstream),
    adminCommand("resume", "call the game API again before a pause is over; this can lead to a ban", resume).option(
      "--yes",
      "do not ask",
    ),
  ]);
}

async function showUpstream(session: Session): Promise<void> {
  await session.call<UpstreamResource>(SHOW, (upstream) =>
    session.printer.printFields(listFields(FIELDS, upstream, session.now())),
  );
}

async function resume(session: Session, { yes }: SessionOptions): Promise<void> {
  if (!yes) await confirmResume(session);
  await session.call<UpstreamResource>(RESUME, () =>
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

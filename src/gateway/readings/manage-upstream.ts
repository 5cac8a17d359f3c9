// The operator's view of the game API, and the way to end a pause early.
import type { Actor, AuditStore } from "../../core/ports/audit.ts";
import type { SettingStore } from "../../core/ports/store.ts";
import { LIFTED_AT } from "../../core/readings/upstream-notes.ts";
import type { UpstreamResource } from "../../core/wire/upstream.ts";
import type { Relay } from "./relay.ts";
import type { Watcher } from "./watcher.ts";

/** The target of audit entries: there is one game API. */
const TARGET = "upstream";

export type UpstreamDeps = {
  readonly relay: Pick<Relay, "catchUp" | "describeUpstream" | "resume">;
  readonly watcher: Pick<Watcher, "catchUpOnAll">;
  readonly settings: Pick<SettingStore, "find" | "amend">;
  readonly audit: Pick<AuditStore, "add">;
};

/** What all instances know together. */
export async function showUpstream({ relay, watcher, settings }: UpstreamDeps, now: number): Promise<UpstreamResource> {
  const [resumedAt] = await Promise.all([settings.find(LIFTED_AT), relay.catchUp(), watcher.catchUpOnAll()]);
  return { ...relay.describeUpstream(now), resumed_at: resumedAt === undefined ? null : Number(resumedAt) };
}

/** Ends the pause after a 429, for every server and on every instance. Without a pause nothing changes. */
export async function resumeUpstream(deps: UpstreamDeps, actor: Actor, now: number): Promise<UpstreamResource> {
  const { relay, settings, audit } = deps;
  const before = await showUpstream(deps, now);
  if (before.paused_until === null) return before;
  const { paused_until, pause_reason } = before;
  const details = { before: { paused_until, pause_reason }, after: { paused_until: null } };
  const note = { at: now, action: "upstream.resumed", actor, details };
  // The audit entry comes first: if it fails, the pause stays and no call is made.
  await audit.add(TARGET, note);
  await settings.amend(LIFTED_AT, () => String(now));
  await relay.resume(now);
  return { ...relay.describeUpstream(now), resumed_at: now };
}

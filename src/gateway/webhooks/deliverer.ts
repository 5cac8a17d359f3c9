// Delivers events to webhooks. One instance does it for all: it holds the lease, reads what is new as soon as it is recorded,
// and gives each webhook its turn. The rules are in core/webhooks; delivery-turns.ts has what one turn does.
import { StoreUnavailable } from "../../core/errors.ts";
import type { NoticeFacts } from "../../core/notices.ts";
import type { Archive } from "../../core/ports/archive.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import type { InstanceLease } from "../../core/ports/instance-lease.ts";
import type { Log } from "../../core/ports/log.ts";
import { createThrottle } from "../../core/throttle.ts";
import { chooseTurns } from "../../core/webhooks/turns.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";
import type { EventNotifier, Waiter } from "../events/event-notifier.ts";
import { HOLD_EVERY_MS, LeaseHolder } from "../instances/lease-holder.ts";
import { WebhookMeter } from "../meters.ts";
import type { NameServers } from "../servers/name-servers.ts";
import { DeliveryTurns, type DeliveryTurnsDeps, type OnDisabled } from "./delivery-turns.ts";
import { KnownWebhook } from "./known-webhook.ts";
import { listDisabledNotices, listPauseNotices } from "./webhook-notices.ts";

/** How often the list of webhooks is read, for changes that were made on other instances. */
export const REFRESH_MS = 5_000;
/** The same on an instance that does not deliver: only its notices need the list. */
export const REFRESH_IDLE_MS = 30_000;
/** After events were recorded, those that follow at once are sent with them. */
export const GATHER_MS = 50;
/** The wait after the archive did not answer; it doubles up to the second. */
export const ARCHIVE_BACKOFF_MS = 1_000;
export const ARCHIVE_BACKOFF_MAX_MS = 10_000;
/** The wait of a webhook whose turn failed unexpectedly. */
const FAULT_BACKOFF_MS = 60_000;
/** How long the last answers may take to be noted, after the requests were ended. */
const LAST_NOTES_MS = 1_000;
const FAULT_LOG_MS = 60_000;

export type DelivererDeps = Omit<
  DeliveryTurnsDeps,
  "archive" | "meter" | "onDisabled" | "pauseDiscord" | "stop" | "mayGoOn"
> & {
  readonly archive: DeliveryTurnsDeps["archive"] & Pick<Archive, "listWebhooks">;
  readonly notifier: Pick<EventNotifier, "open">;
  readonly pause: SleepUntilWoken;
  readonly log: Log;
  /** Undefined when this is the only instance. */
  readonly lease: InstanceLease | undefined;
};

/** For /metrics. All are 0 while another instance delivers. */
export type WebhookReport = {
  readonly healthy: number;
  readonly failing: number;
  readonly disabled: number;
  /** Webhooks that have something to send. */
  readonly waiting: number;
};

export class Deliverer {
  readonly meter = new WebhookMeter();
  /** Called before a webhook is disabled because of its receiver. When it rejects, it is called again. */
  onDisabled: OnDisabled = async () => {};
  readonly #lease: LeaseHolder;
  readonly #turns: DeliveryTurns;
  readonly #known = new Map<string, KnownWebhook>();
  /** One for each server with a webhook that reads its ledger. */
  readonly #followed = new Map<string, { readonly waiter: Waiter; readonly ended: AbortController }>();
  readonly #throttleLog = createThrottle(FAULT_LOG_MS);
  readonly #stopRequests = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** Those that Discord told to pause all of its webhooks. Few: nothing is sent to Discord after the first. */
  readonly #toldToPause = new Set<KnownWebhook>();
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #isStopping = false;
  #stopped: Promise<void> | undefined;
  #refreshAt = 0;
  #isRefreshing = false;
  /** Increased when the lease was won, so that a list that was asked for before is not used. */
  #leaseEpoch = 0;
  #turnNumber = 0;
  #archiveNotBefore = 0;
  #archiveBackoffMs = ARCHIVE_BACKOFF_MS;
  /** What the clock said when it was last read. */
  #lastNow = 0;

  constructor(private readonly deps: DelivererDeps) {
    this.#lease = new LeaseHolder(deps.lease, { onWon: () => this.#takeOver(), onLost: () => this.#unfollowAll() });
    this.#turns = new DeliveryTurns({
      ...deps,
      clock: () => this.#readClock(),
      meter: this.meter,
      onDisabled: (webhook, reason, at) => this.onDisabled(webhook, reason, at),
      pauseDiscord: (known, until) => {
        known.discordPauseUntil = until;
        this.#toldToPause.add(known);
      },
      stop: this.#stopRequests.signal,
      mayGoOn: (known) => {
        if (this.#isStopping || known.isStale) return false;
        return this.#lease.isHeld && this.#dueAt(known) <= this.#readClock();
      },
    });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The webhook was created, changed or deleted. */
  notify(webhookId: string): void {
    const known = this.#known.get(webhookId);
    if (known) {
      known.isStale = true;
      known.ring();
    }
    this.#refreshAt = 0;
    this.#wakeUp();
  }

  /**
   * Begins no request any more, and waits for those under way. Requests that take longer are ended: their events are sent
   * again by the next instance.
   */
  stop(withinMs: number): Promise<void> {
    this.#stopped ??= this.#stop(withinMs);
    return this.#stopped;
  }

  async #stop(withinMs: number): Promise<void> {
    const { pause } = this.deps;
    this.#isStopping = true;
    this.#wakeUp();
    await this.#running;
    const done = new AbortController();
    const finished = Promise.all(this.#underWay).then(() => done.abort());
    if (this.#underWay.size > 0) await pause(withinMs, done.signal);
    this.#stopRequests.abort();
    if (this.#underWay.size > 0) await Promise.race([finished, pause(LAST_NOTES_MS, done.signal)]);
    this.#unfollowAll();
    await this.#lease.release().catch((error) => this.#logFault(error, "giving up the lease"));
  }

  report(): WebhookReport {
    const known = this.#lease.isHeld ? [...this.#known.values()] : [];
    const enabled = known.filter(({ webhook }) => webhook.isEnabled);
    const failing = enabled.filter(({ isFailing }) => isFailing).length;
    return {
      healthy: enabled.length - failing,
      failing,
      disabled: known.length - enabled.length,
      waiting: enabled.filter(({ hasPosition, hasNews }) => hasPosition && hasNews).length,
    };
  }

  /** What is wrong. */
  listNotices(nameServers: NameServers): NoticeFacts[] {
    const webhooks = Array.from(this.#known.values(), ({ webhook }) => webhook);
    const now = this.#readClock();
    const pauseMs = this.#lease.isHeld ? this.#findDiscordPause() - now : 0;
    return [...listDisabledNotices(webhooks, nameServers), ...listPauseNotices(pauseMs)];
  }

  async #run(): Promise<void> {
    const { pause } = this.deps;
    while (!this.#isStopping) {
      this.#wake = new AbortController();
      let waitMs = HOLD_EVERY_MS;
      try {
        waitMs = await this.#step();
      } catch (error) {
        this.#logFault(error, "delivering to webhooks");
      }
      const { signal } = this.#wake;
      if (!this.#isStopping && !signal.aborted) await pause(waitMs, signal);
    }
  }

  /** Gives turns to those who may send now. Returns how long to wait until the next step. */
  async #step(): Promise<number> {
    const { lease } = this.deps;
    await this.#lease.keep(this.#readClock());
    const now = this.#readClock();
    if (now >= this.#refreshAt) void this.#refresh(now);
    const leaseMs = lease ? HOLD_EVERY_MS : REFRESH_MS;
    if (!this.#lease.isHeld) return leaseMs;
    const dueAt = this.#giveTurns(now);
    // The end of a refresh wakes this loop.
    const refreshMs = this.#isRefreshing ? REFRESH_MS : this.#refreshAt - now;
    return Math.max(1, Math.min(leaseMs, dueAt - now, refreshMs));
  }

  #takeOver(): void {
    this.deps.log.info({}, "this instance delivers to webhooks now");
    // What another instance has noted meanwhile must be known before anything is sent.
    this.#leaseEpoch++;
    this.#forgetAll();
    this.#refreshAt = 0;
  }

  /** Starts the turns that may begin. Returns when the next one is due. */
  #giveTurns(now: number): number {
    const ready: KnownWebhook[] = [];
    const busy: KnownWebhook[] = [];
    let nextDueAt = Number.POSITIVE_INFINITY;
    for (const known of this.#known.values()) {
      if (known.isBusy) busy.push(known);
      else if (hasWork(known)) {
        const dueAt = this.#dueAt(known);
        if (dueAt <= now) ready.push(known);
        else nextDueAt = Math.min(nextDueAt, dueAt);
      }
    }
    ready.sort((a, b) => a.lastTurn - b.lastTurn);
    for (const known of chooseTurns(ready, busy)) this.#begin(known);
    // Those who found no room are given their turn when another ends.
    return nextDueAt;
  }

  /** When the clock was set back, everything that is planned comes as much earlier. */
  #readClock(): number {
    const now = this.deps.clock();
    const backMs = this.#lastNow - now;
    this.#lastNow = now;
    if (backMs <= 0) return now;
    this.#refreshAt -= backMs;
    this.#archiveNotBefore -= backMs;
    for (const known of this.#known.values()) known.followClock(backMs);
    return now;
  }

  #dueAt({ nextAttemptAt, notBefore, isDiscord }: KnownWebhook): number {
    return Math.max(notBefore, nextAttemptAt, this.#archiveNotBefore, isDiscord ? this.#findDiscordPause() : 0);
  }

  /** When Discord's webhooks may send again. A pause ends with the webhook that was told. */
  #findDiscordPause(): number {
    let until = 0;
    for (const known of this.#toldToPause) {
      const isGone = known.isDeleted || this.#known.get(known.webhookId) !== known;
      if (isGone || known.discordPauseUntil <= this.#lastNow) this.#toldToPause.delete(known);
      else until = Math.max(until, known.discordPauseUntil);
    }
    return until;
  }

  #begin(known: KnownWebhook): void {
    known.isBusy = true;
    known.lastTurn = ++this.#turnNumber;
    const turn = this.#takeTurn(known).finally(() => {
      known.isBusy = false;
      this.#underWay.delete(turn);
      if (known.isDeleted) this.#known.delete(known.webhookId);
      this.#wakeUp();
    });
    this.#underWay.add(turn);
  }

  async #takeTurn(known: KnownWebhook): Promise<void> {
    try {
      await this.#turns.take(known);
      this.#archiveBackoffMs = ARCHIVE_BACKOFF_MS;
    } catch (error) {
      const now = this.#readClock();
      if (error instanceof StoreUnavailable) this.#backOff(now);
      else {
        known.notBefore = now + FAULT_BACKOFF_MS;
        this.#logFault(error, "delivering to a webhook");
      }
    }
  }

  /** While the archive is away, no turn can succeed; failures at the same time count once. */
  #backOff(now: number): void {
    if (now < this.#archiveNotBefore) return;
    this.#archiveNotBefore = now + this.#archiveBackoffMs;
    this.#archiveBackoffMs = Math.min(2 * this.#archiveBackoffMs, ARCHIVE_BACKOFF_MAX_MS);
  }

  /** Reads the list of webhooks. Nobody waits for it, because an archive may hang. */
  async #refresh(now: number): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    this.#refreshAt = now + (this.#lease.isHeld ? REFRESH_MS : REFRESH_IDLE_MS);
    const epoch = this.#leaseEpoch;
    const revisions = new Map(Array.from(this.#known.values(), (known) => [known.webhookId, known.revision]));
    try {
      const webhooks = await this.deps.archive.listWebhooks();
      if (epoch === this.#leaseEpoch && !this.#isStopping) this.#learn(webhooks, revisions);
    } catch (error) {
      this.#logFault(error, "reading the list of webhooks");
    } finally {
      this.#isRefreshing = false;
      this.#wakeUp();
    }
  }

  /** `revisions`: what was known when the list was asked for. */
  #learn(webhooks: readonly Webhook[], revisions: ReadonlyMap<string, number>): void {
    const now = this.#readClock();
    const listed = new Set(webhooks.map(({ webhookId }) => webhookId));
    for (const webhook of webhooks) {
      const known = this.#known.get(webhook.webhookId);
      if (!known) this.#known.set(webhook.webhookId, new KnownWebhook(webhook, now));
      else if (isUntouched(known, revisions)) known.replace(webhook);
    }
    for (const known of this.#known.values()) {
      // One that was created since is in the next list.
      if (listed.has(known.webhookId) || !revisions.has(known.webhookId)) continue;
      known.isDeleted = true;
      if (!known.isBusy) this.#known.delete(known.webhookId);
    }
    this.#follow();
  }

  /** Waits for new events of every server that has a webhook. */
  #follow(): void {
    const servers = new Set<string>();
    if (this.#lease.isHeld) {
      for (const { webhook, hasPosition } of this.#known.values()) {
        if (hasPosition && webhook.isEnabled) servers.add(webhook.serverId);
      }
    }
    for (const [serverId, { waiter, ended }] of this.#followed) {
      if (servers.has(serverId)) continue;
      this.#followed.delete(serverId);
      ended.abort();
      waiter.close();
    }
    for (const serverId of servers) {
      if (this.#followed.has(serverId)) continue;
      const follower = { waiter: this.deps.notifier.open(serverId), ended: new AbortController() };
      this.#followed.set(serverId, follower);
      void this.#followServer(serverId, follower.waiter, follower.ended.signal);
    }
  }

  async #followServer(serverId: string, waiter: Waiter, ended: AbortSignal): Promise<void> {
    const { pause } = this.deps;
    for (;;) {
      await waiter.wait(this.#newestOf(serverId, waiter), ended);
      if (ended.aborted) return;
      for (const known of this.#known.values()) if (known.webhook.serverId === serverId) known.ring();
      this.#wakeUp();
      await pause(GATHER_MS, ended);
    }
  }

  /** The newest event that this instance knows of. */
  #newestOf(serverId: string, waiter: Waiter): number {
    let newest = waiter.newest;
    for (const { webhook, readPosition } of this.#known.values()) {
      if (webhook.serverId === serverId) newest = Math.max(newest, readPosition.number);
    }
    return newest;
  }

  #unfollowAll(): void {
    for (const { waiter, ended } of this.#followed.values()) {
      ended.abort();
      waiter.close();
    }
    this.#followed.clear();
  }

  /** Turns under way go on: what they note is refused when another instance has moved the place. */
  #forgetAll(): void {
    this.#unfollowAll();
    for (const known of this.#known.values()) {
      if (known.isBusy) known.isStale = true;
      else this.#known.delete(known.webhookId);
    }
  }

  #wakeUp(): void {
    this.#wake.abort();
  }

  #logFault(error: unknown, purpose: string): void {
    // An unavailable store is logged already, where requests fail because of it.
    if (error instanceof StoreUnavailable) return;
    this.#throttleLog(this.deps.clock(), (unlogged) => {
      this.deps.log.error({ err: error, unlogged }, `${purpose} failed`);
    });
  }
}

function hasWork({ webhook, hasNews, hasPosition, unnoted, isStale }: KnownWebhook): boolean {
  if (unnoted || isStale) return true;
  return webhook.isEnabled && (hasNews || !hasPosition);
}

/** Whether nothing was noted since the list was asked for, so that the list is newer. */
function isUntouched(known: KnownWebhook, revisions: ReadonlyMap<string, number>): boolean {
  return !known.isBusy && !known.unnoted && revisions.get(known.webhookId) === known.revision;
}

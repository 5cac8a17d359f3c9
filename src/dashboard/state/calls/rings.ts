// What the page rings for, as the user has chosen: a sound and a notification, for new calls and for alerts, each kind apart.
import type { EventResource } from "../../../core/wire/event.ts";
import { StoredSetting, useStoredSetting } from "../stored-setting.ts";

/** `server`: it is offline or cannot be reached. */
export const RING_KINDS = ["modcall", "call", "kills", "mass_command", "server", "players"] as const;
export type RingKind = (typeof RING_KINDS)[number];
export const RING_WAYS = ["sound", "notification"] as const;
export type RingWay = (typeof RING_WAYS)[number];

/** An older event was missed: the user sees it in the list, and a sound would come too late. */
export const RING_AGE_MAX_MS = 60_000;
/** The calls that have rung are remembered; the oldest are forgotten first. */
export const RUNG_MAX = 500;

const KINDS_OF_TYPES: Readonly<Record<string, RingKind>> = { "modcall.opened": "modcall", "call.opened": "call" };
const KINDS_OF_RULES: Readonly<Record<string, RingKind>> = {
  kills: "kills",
  mass_command: "mass_command",
  unanswered_modcall: "modcall",
  offline: "server",
  unreachable: "server",
  players: "players",
};

/** A call and the alert that nobody answers it ring once: the second is told by nothing. */
export class Rings {
  readonly #rung = new Set<string>();

  /** What to ring for. `now` is by the clock of Gatehouse, as `seen_at` is. */
  take({ id, type, data, meta, seen_at, backfill }: EventResource, now: number): RingKind | undefined {
    const isAlert = type === "alert.raised";
    const kind = isAlert ? KINDS_OF_RULES[String(data.rule)] : KINDS_OF_TYPES[type];
    if (kind === undefined || backfill || now - seen_at > RING_AGE_MAX_MS) return undefined;
    if (kind !== "modcall") return kind;
    const events: unknown = meta?.events;
    const key = String(isAlert && Array.isArray(events) ? events[0] : id);
    if (this.#rung.has(key)) return undefined;
    this.#rung.add(key);
    const [oldest = ""] = this.#rung;
    if (this.#rung.size > RUNG_MAX) this.#rung.delete(oldest);
    return kind;
  }
}

/** Whether each way is on at all, and for which kinds it is not wanted. */
export type RingSettings = Readonly<Record<RingWay, { readonly isOn: boolean; readonly not: readonly RingKind[] }>>;

/** How full the server is rings for nobody who has not asked for it. */
const NOT_AT_FIRST: readonly RingKind[] = ["players"];

const setting = new StoredSetting<RingSettings>({
  name: "gatehouse.alerts",
  parse: parseRingSettings,
  write: (settings) => JSON.stringify(settings),
});

export function getRingSettings(): RingSettings {
  return setting.get();
}

export function areRingsOn(): boolean {
  return RING_WAYS.some((way) => setting.get()[way].isOn);
}

export function rings(settings: RingSettings, way: RingWay, kind: RingKind): boolean {
  return settings[way].isOn && !settings[way].not.includes(kind);
}

export function switchRings(way: RingWay, isOn: boolean): void {
  setting.change((settings) => ({ ...settings, [way]: { ...settings[way], isOn } }));
}

export function chooseRing(way: RingWay, kind: RingKind, isWanted: boolean): void {
  setting.change((settings) => {
    const others = settings[way].not.filter((other) => other !== kind);
    return { ...settings, [way]: { ...settings[way], not: isWanted ? others : [...others, kind] } };
  });
}

export function useRingSettings(): RingSettings {
  return useStoredSetting(setting);
}

/** `text` may be anything: another page of this host, or the user, may have written it. */
export function parseRingSettings(text: string | null): RingSettings {
  const stored = parseJson(text ?? "null") as Partial<Record<RingWay, unknown>> | null;
  return { sound: parseWay(stored?.sound), notification: parseWay(stored?.notification) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** `true` is what an earlier version of the page stored. */
function parseWay(stored: unknown): RingSettings[RingWay] {
  const { isOn, not } = (typeof stored === "object" && stored ? stored : { isOn: stored }) as Record<string, unknown>;
  const kinds = Array.isArray(not) ? RING_KINDS.filter((kind) => not.includes(kind)) : NOT_AT_FIRST;
  return { isOn: isOn === true, not: kinds };
}

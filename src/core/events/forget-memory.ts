// How a player is taken out of what is remembered of a server. The memory of a compared section that names the player is
// deleted: rewritten, it would differ from what the game still shows, and the difference would be told with the name. The
// next reading learns it anew and tells of a gap in that section. Entries of log lists are remembered by hash only.
import { forgetInAlerts } from "../alerts/forget-in-alerts.ts";
import type { OpenSessions } from "../history/sessions.ts";
import { writeObject } from "./compare-sections.ts";
import type { GapSection } from "./event-types.ts";
import { FORGOTTEN_ID, FORGOTTEN_NAME, type ForgottenPlayer, PlayerEraser } from "./forget-player.ts";
import type { CallMemory, ServerMemory } from "./memory.ts";

/** Returns the same memory when it does not name the player. */
export function forgetInMemory(memory: ServerMemory, player: ForgottenPlayer): ServerMemory {
  const eraser = new PlayerEraser(player);
  const isNamedIn = (text: string | null) => text !== null && eraser.erase(text) !== text;
  const { players, vehicles, staff, queue, settings, calls } = memory;
  const cleared: Partial<{ -readonly [field in keyof ServerMemory]: ServerMemory[field] }> = {};
  const sections = new Set<GapSection>(memory.forgotten);
  const isShown = players?.values().some((fields) => isNamedIn(writeObject(fields)));
  if (players?.has(player.id) || isShown) {
    cleared.players = null;
    sections.add("Players");
  }
  if (vehicles?.some(isNamedIn)) {
    cleared.vehicles = null;
    sections.add("Vehicles");
  }
  if (staff && Object.values(staff).some((members) => isStaffOf(members, player.id, eraser))) {
    cleared.staff = null;
    sections.add("Staff");
  }
  if (isNamedIn(queue && `{"Queue":${queue}}`)) {
    cleared.queue = null;
    sections.add("Queue");
  }
  if (isNamedIn(settings && writeObject(settings))) {
    cleared.settings = null;
    sections.add("*");
  }
  const erasedCalls = calls?.map((call) => eraseCall(call, eraser));
  if (erasedCalls?.some((call, place) => call !== calls?.[place])) {
    cleared.calls = erasedCalls;
    sections.add("EmergencyCalls");
  }
  if (memory.sessions.has(player.id)) cleared.sessions = eraseSession(memory.sessions, player.id);
  const alerts = forgetInAlerts(memory.alerts, player.id, eraser);
  if (alerts !== memory.alerts) cleared.alerts = alerts;
  return Object.keys(cleared).length === 0 ? memory : { ...memory, ...cleared, forgotten: [...sections] };
}

/** It ends as that of nobody, because no reading shows it any more; of two such sessions one is kept. */
function eraseSession(sessions: OpenSessions, id: string): OpenSessions {
  const kept = new Map(sessions);
  const session = kept.get(id);
  kept.delete(id);
  if (session) kept.set(FORGOTTEN_ID, { ...session, name: FORGOTTEN_NAME });
  return kept;
}

function isStaffOf(members: ReadonlyMap<string, string>, id: string, eraser: PlayerEraser): boolean {
  return members.has(id) || [...members.values()].some((name) => eraser.eraseName(name) !== name);
}

/** A call stays, so that its end is told. */
function eraseCall(call: CallMemory, eraser: PlayerEraser): CallMemory {
  let isChanged = false;
  const fields = Object.entries(call.fields).map(([field, text]) => {
    const before = writeObject({ [field]: text });
    const after = eraser.erase(before);
    if (after === before) return [field, text];
    isChanged = true;
    return [field, after.slice(JSON.stringify(field).length + 2, -1)];
  });
  return isChanged ? { ...call, fields: Object.fromEntries(fields), isForgotten: true } : call;
}

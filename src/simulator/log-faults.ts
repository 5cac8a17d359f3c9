// The faults of the log lists: some change the logs of the town, others only the lists of one answer.
import type { Fault } from "./fault-kinds.ts";
import { LOG_LISTS, type LogEntries, type LogList } from "./log-lists.ts";
import type { GameCall } from "./protocol.ts";
import { hashOf } from "./random.ts";
import { listPlayers, type Profile, refOf, type Town, timestampOf } from "./town.ts";

type Fields = Record<string, unknown>;

/** What a fault of the log lists does to a call; nothing for the other kinds. */
export function findLogChanges(fault: Fault): Pick<GameCall, "changeTown" | "distort"> {
  const { kind, settings, callsBefore } = fault;
  const list = settings.list as LogList;
  switch (kind) {
    case "burst":
      return { changeTown: (town) => addBurst(town, list, Number(settings.count ?? 2 * town.logs.window)) };
    case "same-second":
      return { changeTown: (town) => addEqualEntries(town, list, Number(settings.count)) };
    case "forget-logs":
      return { changeTown: (town) => town.logs.forget() };
    case "partial-logs":
      return { distort: (answer) => mapLogs(answer, (elements) => elements.slice(0, Number(settings.keep))) };
    case "reorder-logs":
      return {
        distort: (answer, town) => mapLogs(answer, (elements, list) => shuffle(elements, town.seed, list, callsBefore)),
      };
    default:
      return {};
  }
}

/**
 * Adds so many entries in the current second. They only happen in the log: players, queue and staff stay as they are.
 * They differ from each other and from those of earlier bursts as long as the profiles allow it.
 */
function addBurst(town: Town, list: LogList, count: number): void {
  if (list === "JoinLogs") addJoinBurst(town, count);
  else for (let i = 0; i < count; i++) addBurstEntry(town, list, town.burstEntryCount++);
}

function addBurstEntry(town: Town, list: Exclude<LogList, "JoinLogs">, index: number): void {
  const at = timestampOf(town);
  const { length } = town.profiles;
  const player = refOf(profileAt(town, index));
  switch (list) {
    case "KillLogs": {
      // The distance to the killer grows with each round through the profiles, so that no pair repeats soon.
      const distance = 1 + (Math.floor(index / length) % (length - 1));
      town.logs.add(list, { at, killed: player, killer: refOf(profileAt(town, index + distance)) });
      break;
    }
    case "CommandLogs":
      town.logs.add(list, { at, player, text: `:log Burst ${index}` });
      break;
    case "ModCalls":
      town.logs.add(list, { at, caller: player, moderator: null, answerAt: null });
  }
}

/** Players leave and come back, others come and leave, so that the newest entry about each says where they are. */
function addJoinBurst(town: Town, count: number): void {
  const at = timestampOf(town);
  for (let left = count; left > 0; ) {
    const profile = profileAt(town, town.burstEntryCount++);
    const isOnline = town.players.has(profile.id);
    const player = refOf(profile);
    // The odd one of the entries has no counterpart and only repeats the state.
    if (left-- % 2 === 0) {
      town.logs.add("JoinLogs", { at, join: !isOnline, player });
      left--;
    }
    town.logs.add("JoinLogs", { at, join: isOnline, player });
  }
}

/** Adds entries whose fields are all equal. */
function addEqualEntries(town: Town, list: LogList, count: number): void {
  const [first, second] = listPlayers(town).map(({ profile }) => refOf(profile));
  if (first === undefined) return;
  const at = timestampOf(town);
  const template: LogEntries = {
    JoinLogs: { at, join: true, player: first },
    KillLogs: { at, killed: first, killer: second ?? null },
    CommandLogs: { at, player: first, text: ":log Twice in one second" },
    ModCalls: { at, caller: first, moderator: null, answerAt: null },
  };
  for (let i = 0; i < count; i++) town.logs.add(list, { ...template[list] });
}

function profileAt({ profiles }: Town, index: number): Profile {
  const profile = profiles[index % profiles.length];
  if (!profile) throw new RangeError("a town has no profiles");
  return profile;
}

function mapLogs(answer: Fields, map: (elements: readonly unknown[], list: LogList) => unknown[]): Fields {
  const mapped = { ...answer };
  for (const list of LOG_LISTS) {
    const elements = answer[list];
    if (Array.isArray(elements)) mapped[list] = map(elements, list);
  }
  return mapped;
}

/** Another order, which follows from the key. */
function shuffle(elements: readonly unknown[], ...key: readonly (string | number)[]): unknown[] {
  const ranks = elements.map((element, index) => ({ element, rank: hashOf(...key, index) }));
  const shuffled = ranks.sort((a, b) => a.rank - b.rank).map(({ element }) => element);
  const isUnchanged = shuffled.every((element, index) => element === elements[index]);
  return isUnchanged ? [...shuffled.slice(1), ...shuffled.slice(0, 1)] : shuffled;
}

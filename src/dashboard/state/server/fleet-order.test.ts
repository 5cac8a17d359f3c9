// The order of the overview: what needs somebody comes first.
import { describe, expect, test } from "bun:test";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { ServerState } from "../../api/caller.ts";
import type { ApiError } from "../../api/request.ts";
import {
  judgeReading,
  judgeServer,
  type KeyReading,
  orderFleet,
  STANDINGS,
  type Standing,
  sumFleet,
} from "./fleet-order.ts";

const NOW = 1_800_000_000_000;

const SERVER: ServerResource = {
  ...{ server_id: "srv_1", name: "Cedar", community: null, created_at: 0, simulated: false, watch: true },
  public_status: null,
  owners_sign_in: false,
  ...{ state: "online", players: 8, max_players: 40, queue: 0, open_modcalls: 0, open_calls: 3 },
  ...{ last_read_at: NOW - 5_000, last_error: null },
  watching: { state: "watching", interval_ms: 5_000, last_reading_at: NOW - 5_000, reason: null },
};
const PAUSED = { ...SERVER.watching, state: "paused" } as const;

const STATE = { CurrentPlayers: 8, MaxPlayers: 40 } as ServerState;
const GOOD: KeyReading = { condition: "ok", state: STATE, dataAt: NOW - 5_000, error: undefined, retryAt: undefined };

describe("the order of servers", () => {
  test("is worst first, then by name, with numbers as people count", () => {
    const rows = STANDINGS.toReversed().flatMap((standing) => [
      { standing, name: "Town 10", openModCalls: null },
      { standing, name: "Town 2", openModCalls: 0 },
    ]);
    const ordered = orderFleet(rows, "en");
    expect(ordered.map(({ standing }) => standing)).toEqual(STANDINGS.flatMap((standing) => [standing, standing]));
    expect(ordered.slice(0, 2).map(({ name }) => name)).toEqual(["Town 2", "Town 10"]);
  });

  test("sums leave out what is not known and what is from before", () => {
    const counts = { players: 8, playersMax: 40, queue: null, openModCalls: 2, openCalls: 0 };
    const rows = (["calls", "fine", "offline", "stale", "refused"] as const).map((standing) => ({
      ...{ standing, name: "Town" },
      ...counts,
    }));
    const sums = { players: 24, playersMax: 120, queue: 0, openModCalls: 6, openCalls: 0 };
    expect(sumFleet(rows)).toEqual({ unreadable: 1, ...sums });
  });

  test("has those with more calls for a moderator before others that are as bad", () => {
    const rows = [0, 1, 3, null].map((openModCalls) => ({
      standing: "calls" as const,
      name: `Town ${openModCalls}`,
      openModCalls,
    }));
    expect(orderFleet(rows, "en").map(({ openModCalls }) => openModCalls)).toEqual([3, 1, 0, null]);
  });
});

test.each<[Standing, Partial<ServerResource>]>([
  ["fine", {}],
  ["refused", { state: "key_refused", watching: PAUSED, open_modcalls: 2 }],
  ["unreachable", { state: "unreachable", watching: PAUSED }],
  ["paused", { state: "parked" }],
  ["paused", { watching: PAUSED }],
  ["offline", { state: "offline", last_read_at: NOW - 600_000 }],
  ["stale", { last_read_at: NOW - 60_001, open_modcalls: 2 }],
  ["fine", { last_read_at: NOW - 60_001, watching: { ...SERVER.watching, interval_ms: 30_000 } }],
  ["unknown", { state: "not_asked", last_read_at: null, players: null }],
  ["calls", { open_modcalls: 1, players: 40 }],
  ["full", { players: 40 }],
  ["fine", { players: null, max_players: null, open_modcalls: null }],
])("for an operator a server is %s with %j", (standing, change) => {
  expect(judgeServer({ ...SERVER, ...change }, NOW)).toBe(standing);
});

const gameError = (upstreamCode: number) => ({ upstreamCode }) as ApiError;

test.each<[Standing, Partial<KeyReading>]>([
  ["fine", {}],
  ["refused", { condition: "refused" }],
  ["refused", { condition: "game-error", error: gameError(2002) }],
  ["unreachable", { condition: "game-error", error: gameError(1001) }],
  ["unreachable", { condition: "unreachable" }],
  ["paused", { condition: "limited" }],
  ["paused", { condition: "blocked" }],
  ["offline", { condition: "offline", state: undefined }],
  ["unknown", { condition: "loading", state: undefined, dataAt: undefined }],
  ["stale", { dataAt: NOW - 90_001 }],
  ["calls", { state: { ...STATE, ModCalls: [{ Caller: "A:1", Moderator: null }] } }],
  ["fine", { state: { ...STATE, ModCalls: [{ Caller: "A:1", Moderator: "B:2" }] } }],
  ["fine", { state: { ...STATE, Players: [], ModCalls: [{ Caller: "A:1", Moderator: null }] } }],
  ["calls", { waiting: 2, state: { ...STATE, ModCalls: [] } }],
  ["fine", { waiting: 0, state: { ...STATE, ModCalls: [{ Caller: "A:1", Moderator: null }] } }],
  ["full", { state: { ...STATE, CurrentPlayers: 40 } }],
])("for the holder of a key a server is %s with %j", (standing, change) => {
  expect(judgeReading({ ...GOOD, ...change }, NOW, 90_000)).toBe(standing);
});

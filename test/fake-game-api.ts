// A fake game API: sends the answer that the test sets and records every call. For tests that need exact bytes; others use
// the simulator.

export type FakeAnswer = (request: Request) => Response | Promise<Response>;

export type FakeGameApi = {
  readonly url: string;
  readonly calls: { readonly url: string; readonly headers: Headers }[];
  answer: FakeAnswer;
  stop(): Promise<void>;
};

/** A ServerInfo with the required fields only, for tests to extend. */
export const BASE_INFO = {
  Name: "API Test",
  OwnerId: 123,
  CoOwnerIds: [123],
  CurrentPlayers: 1,
  MaxPlayers: 40,
  JoinKey: "APIServer",
  AccVerifiedReq: "Disabled",
  TeamBalance: true,
};

export const ALL_SECTIONS_INFO = {
  Players: [
    {
      Team: "Sheriff",
      Player: "PlayerName:123",
      Callsign: "5D-550",
      Location: {
        LocationX: 1084.965,
        LocationZ: 2302.28,
        PostalCode: "218",
        StreetName: "Park Street",
        BuildingNumber: "2083",
      },
      Permission: "Server Administrator",
      WantedStars: 0,
    },
  ],
  Staff: { Admins: { "54": "Somebody" }, Mods: { "2": "Another" }, Helpers: { "16": "Third" } },
  JoinLogs: [{ Join: true, Timestamp: 1704614400, Player: "PlayerName:123" }],
  Queue: [123],
  KillLogs: [{ Killed: "PlayerName:123", Timestamp: 1704614400, Killer: "PlayerName:456" }],
  CommandLogs: [{ Player: "PlayerName:123", Timestamp: 1704614400, Command: ":h" }],
  ModCalls: [{ Caller: "PlayerName:123", Moderator: null, Timestamp: 1704614400 }],
  EmergencyCalls: [
    {
      Team: "Police",
      Caller: 168,
      Players: [1, 2],
      Position: [-654.6, 666.5],
      StartedAt: 1774216563,
      CallNumber: 400,
      Description: "Fire",
      PositionDescriptor: "Near the bank",
    },
  ],
  Vehicles: [{ Name: "Fire Engine", Owner: "Somebody", Texture: null, ColorHex: "#ff4444", ColorName: "Super Red" }],
};

export function startFakeGameApi(answer: FakeAnswer = () => Response.json(BASE_INFO), port = 0): FakeGameApi {
  const api: { answer: FakeAnswer; calls: FakeGameApi["calls"] } = { answer, calls: [] };
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      api.calls.push({ url: request.url, headers: request.headers });
      return api.answer(request);
    },
  });
  return Object.assign(api, {
    url: `http://127.0.0.1:${server.port}`,
    stop: () => server.stop(true),
  });
}

// Sections 2, 4 and 9 of the specification over HTTP: the fields of a reading, their shapes, and when one is left out.
import { beforeEach, describe, expect, test } from "bun:test";
import { SECTIONS } from "../../src/core/sections.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { openStage } from "./stage.ts";

const EVERYTHING = SECTIONS.map((name) => `${name}=true`).join("&");
const REQUIRED = Object.keys(BASE_INFO);

let token: string;

const { game: api, gatehouse } = await openStage();
beforeEach(async () => {
  api.answer = () => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO });
  api.calls.length = 0;
  const server = await gatehouse.addServer({ community: "town" });
  token = (await gatehouse.addKey(server)).token;
});

const read = (query = "", headers = {}) => gatehouse.get(`/v2/game/server${query}`, token, headers);
const readText = async (query = "") => (await read(query)).text();

async function relay(body: string): Promise<string> {
  api.answer = () => new Response(body, { headers: { "content-type": "application/json" } });
  return readText(`?${EVERYTHING}`);
}

describe("2.1 ServerInfo", () => {
  test("the eight required fields are always there, in the spec's order, and nothing else without parameters", async () => {
    const response = await read();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.text()).toBe(JSON.stringify(BASE_INFO));
  });

  test("each section is present only when its parameter is true", async () => {
    for (const name of SECTIONS) {
      const body = JSON.parse(await readText(`?${name}=true`));
      expect(Object.keys(body)).toEqual([...REQUIRED, name]);
      expect(body[name]).toEqual(ALL_SECTIONS_INFO[name]);
    }
  });

  test("all nine sections come in the specification's order, in whatever order they are requested", async () => {
    const backwards = [...SECTIONS].reverse().map((name) => `${name}=true`);
    const body = await readText(`?${backwards.join("&")}`);
    expect(body).toBe(JSON.stringify({ ...BASE_INFO, ...ALL_SECTIONS_INFO }));
  });

  test("a parameter that is absent or not exactly true omits its section and is never an error", async () => {
    for (const value of ["false", "1", "TRUE", "True", "banana", "", "true%20", "+true", "true&Players=false"]) {
      const response = await read(`?Players=${value}`);
      expect(response.status).toBe(200);
      expect(await response.json()).not.toHaveProperty("Players");
    }
    expect(await (await read("?Players")).json()).not.toHaveProperty("Players");
    expect(await (await read("?Players=true&Players=true")).json()).toHaveProperty("Players");
  });

  test("parameter names are case-sensitive and decoded as in any URL; unknown ones are ignored", async () => {
    expect(await (await read("?players=true&PLAYERS=true&Nonsense=true&__proto__=true")).json()).toEqual(BASE_INFO);
    expect(await (await read("?P%6Cayers=%74rue")).json()).toHaveProperty("Players");
  });
});

describe("2.2 to 2.11, relayed unchanged", () => {
  const withField = (field: string) => JSON.stringify(BASE_INFO).replace(/}$/, `,${field}}`);

  test("integers of any size come out unchanged, wherever they stand", async () => {
    const body = JSON.stringify({ ...BASE_INFO, Queue: [1] })
      .replace('"OwnerId":123', '"OwnerId":1234567890123456789')
      .replace('"Queue":[1]', '"Queue":[99999999999999999999,1.0,1e3]')
      .replace('"CoOwnerIds":[123]', '"CoOwnerIds":[9007199254740993]');
    const relayed = await relay(body);
    expect(relayed).toContain('"OwnerId":1234567890123456789,');
    expect(relayed).toContain('"CoOwnerIds":[9007199254740993]');
    expect(relayed).toContain('"Queue":[99999999999999999999,1.0,1e3]');
  });

  test("2.2 a civilian's callsign is null, a location may be absent", async () => {
    const players = '[{"Team":"Civilian","Player":"A:1","Callsign":null,"Permission":"Normal","WantedStars":2}]';
    expect(await relay(withField(`"Players":${players}`))).toContain(`"Players":${players}`);
  });

  test("2.3 a location relays its numbers unchanged and leaves out values of another type", async () => {
    const location =
      '{"LocationX":1084.9650,"LocationZ":-2,"PostalCode":218,"StreetName":"Park","BuildingNumber":null}';
    const relayed = await relay(withField(`"Players":[{"Location":${location}},{"Location":"nowhere"}]`));
    const kept = '{"LocationX":1084.9650,"LocationZ":-2,"StreetName":"Park"}';
    expect(relayed).toContain(`"Players":[{"Location":${kept}},{}]`);
  });

  test("2.4 Staff always has its three maps with numeric keys; [] becomes {}", async () => {
    const empty = '"Staff":{"Admins":{},"Mods":{},"Helpers":{}}';
    expect(await relay(withField('"Staff":[]'))).toContain(empty);
    await gatehouse.clock.sleep(10_000);
    const odd = '"Staff":{"Mods":{"12":"B","x":"C","13":5},"Admins":[],"Owner":{"1":"D"}}';
    expect(await relay(withField(odd))).toContain('"Staff":{"Admins":{},"Mods":{"12":"B"},"Helpers":{}}');
  });

  test("2.5 a join log keeps who joined or left, and when", async () => {
    const logs =
      '[{"Join":true,"Timestamp":1704614400,"Player":"A:1"},{"Join":false,"Timestamp":1704614401,"Player":"A:1"}]';
    expect(await relay(withField(`"JoinLogs":${logs}`))).toContain(`"JoinLogs":${logs}`);
  });

  test("2.6 a kill log keeps killed, time and killer, and goes without a killer where there was none", async () => {
    const logs = '[{"Killed":"A:1","Timestamp":5,"Killer":"B:2"},{"Killed":"A:1","Timestamp":6}]';
    expect(await relay(withField(`"KillLogs":${logs}`))).toContain(`"KillLogs":${logs}`);
  });

  test("2.7 a command log keeps player, time and the text to the letter", async () => {
    const logs = '[{"Player":"Remote Server","Timestamp":5,"Command":":h <b>\\"hi\\"</b>"}]';
    expect(await relay(withField(`"CommandLogs":${logs}`))).toContain(`"CommandLogs":${logs}`);
  });

  test("2.8 nobody responded: Moderator is null", async () => {
    const call = '"ModCalls":[{"Caller":"A:1","Moderator":null,"Timestamp":5}]';
    expect(await relay(withField(call))).toContain(call);
  });

  test("2.9 a position has exactly two items, else it is left out", async () => {
    const calls = '"EmergencyCalls":[{"Team":"Fire","Position":[1.50,-2]},{"Team":"DOT","Position":[1,2,3]}]';
    const relayed = await relay(withField(calls));
    expect(relayed).toContain('"EmergencyCalls":[{"Team":"Fire","Position":[1.50,-2]},{"Team":"DOT"}]');
  });

  test("2.10 a colour keeps its letter case, a livery may be null, unknown fields are dropped", async () => {
    const vehicle = '{"Name":"Car","Owner":"A","Texture":null,"ColorHex":"#aAbBcC","ColorName":"Odd"}';
    const relayed = await relay(withField(`"Vehicles":[${vehicle.replace('"Owner"', '"Plate":"X-1","Owner"')}]`));
    expect(relayed).toContain(`"Vehicles":[${vehicle}]`);
  });

  test("2.11 the queue keeps its integers in their order and drops other values", async () => {
    expect(await relay(withField('"Queue":[3,"4",1,2.5,null,2]'))).toContain('"Queue":[3,1,2]');
  });

  test("unknown enumeration values are relayed", async () => {
    const relayed = await relay(
      withField('"Players":[{"Permission":"Server Helper"}]').replace("Disabled", "Phone/ID"),
    );
    expect(relayed).toContain('"AccVerifiedReq":"Phone/ID"');
    expect(relayed).toContain('"Permission":"Server Helper"');
  });

  test("a requested section that is missing, null or of another type is relayed empty", async () => {
    const relayed = await relay(withField('"Players":null,"Queue":{"a":1},"JoinLogs":"x"'));
    expect(JSON.parse(relayed)).toMatchObject({ Players: [], Queue: [], JoinLogs: [], Vehicles: [] });
  });

  test("hostile names are data: relayed to the letter", async () => {
    const name = '<img src=x onerror=alert(1)>\u202e\u0000"\\:1';
    const players = [{ Player: name }];
    api.answer = () => Response.json({ ...BASE_INFO, Players: players });
    expect(await (await read("?Players=true")).json()).toMatchObject({ Players: players });
  });
});

describe("4.1 the two path forms", () => {
  test("the community form is the same endpoint: one answer, one bucket, one upstream call", async () => {
    const plain = await gatehouse.get("/v2/game/server", token);
    const prefixed = await gatehouse.get("/v2/town/game/server", token);
    expect(await prefixed.text()).toBe(await plain.text());
    expect(plain.headers.get("x-ratelimit-remaining")).toBe("119");
    expect(prefixed.headers.get("x-ratelimit-remaining")).toBe("118");
    expect(api.calls).toHaveLength(1);
  });

  test("the community segment is decoded before it is compared", async () => {
    expect((await gatehouse.get("/v2/%74own/game/server", token)).status).toBe(200);
  });

  test("HEAD is GET without the body, and counts", async () => {
    const get = await read("?Players=true");
    const head = await fetch(`${gatehouse.url}/v2/game/server?Players=true`, {
      method: "HEAD",
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expect(head.headers.get("content-length")).toBe(String((await get.text()).length));
    expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
    expect(head.headers.get("x-ratelimit-remaining")).toBe("118");
  });
});

describe("caching", () => {
  test("the first read is a miss, the next a hit with its age in whole seconds", async () => {
    const first = await read();
    expect(first.headers.get("x-cache")).toBe("miss");
    expect(first.headers.get("age")).toBe("0");
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    gatehouse.clock.advance(1_999);
    const second = await read();
    expect(second.headers.get("x-cache")).toBe("hit");
    expect(second.headers.get("age")).toBe("1");
    gatehouse.clock.advance(1);
    expect((await read()).headers.get("x-cache")).toBe("miss");
    expect(api.calls).toHaveLength(2);
  });

  test("one upstream call serves 200 parallel reads of different sections", async () => {
    const server = await gatehouse.addServer();
    const keys = await Promise.all(Array.from({ length: 10 }, () => gatehouse.addKey(server)));
    api.calls.length = 0;
    const gate = Promise.withResolvers<void>();
    api.answer = async () => {
      await gate.promise;
      return Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO });
    };
    const reads = Array.from({ length: 200 }, (_, i) => {
      const query = SECTIONS.filter((_, bit) => i & (1 << bit)).map((name) => `${name}=true`);
      return gatehouse.get(`/v2/game/server?${query.join("&")}`, keys[i % 10]?.token);
    });
    while (api.calls.length === 0) await Bun.sleep(1);
    gate.resolve();
    const statuses = (await Promise.all(reads)).map((response) => response.status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(api.calls).toHaveLength(1);
  });

  test("a matching If-None-Match gets 304 without a body, and still counts", async () => {
    const first = await read("?Players=true");
    const etag = first.headers.get("etag") ?? "";
    for (const header of [etag, `"other", ${etag}`, "*", etag.replace("W/", "")]) {
      const again = await read("?Players=true", { "If-None-Match": header });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe("");
      expect(again.headers.get("etag")).toBe(etag);
      expect(again.headers.get("age")).toBe("0");
      expect(again.headers.get("x-cache")).toBe("hit");
    }
    const next = await read("?Players=true", { "If-None-Match": '"other"' });
    expect(next.status).toBe(200);
    expect(next.headers.get("x-ratelimit-remaining")).toBe("114");
  });

  test("the ETag changes with the content and only with it", async () => {
    const first = (await read()).headers.get("etag");
    gatehouse.clock.advance(5_000);
    const same = await read();
    expect(same.headers.get("x-cache")).toBe("miss");
    expect(same.headers.get("etag")).toBe(first);
    gatehouse.clock.advance(5_000);
    api.answer = () => Response.json({ ...BASE_INFO, CurrentPlayers: 2 });
    expect((await read()).headers.get("etag")).not.toBe(first);
  });

  test("gzip is used when it is accepted and makes the body smaller, and decompresses to the same body", async () => {
    const plain = await read(`?${EVERYTHING}`, { "Accept-Encoding": "identity" });
    const packed = await read(`?${EVERYTHING}`, { "Accept-Encoding": "br, gzip;q=0.5" });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("vary")).toBe("Accept-Encoding");
    expect(await packed.text()).toBe(await plain.text());
    const refused = await read(`?${EVERYTHING}`, { "Accept-Encoding": "gzip;q=0" });
    expect(refused.headers.get("content-encoding")).toBeNull();
    const small = await read("", { "Accept-Encoding": "gzip" });
    expect(small.headers.get("content-encoding")).toBeNull();
  });

  test.each([3_000, 5_000, 10_000])(
    "a body with a queue of %d is the same whether it was waited for or at hand, and so are its headers",
    async (length) => {
      const Queue = Array.from({ length }, (_, i) => i);
      api.answer = () => Response.json({ ...BASE_INFO, Queue });
      const asIs = { "Accept-Encoding": "identity" };
      const waitedFor = await read("?Queue=true", asIs);
      const atHand = await read("?Queue=true", asIs);
      expect([waitedFor, atHand].map(({ headers }) => headers.get("x-cache"))).toEqual(["miss", "hit"]);
      expect(await waitedFor.json()).toEqual({ ...BASE_INFO, Queue });
      expect(await atHand.json()).toEqual({ ...BASE_INFO, Queue });
      for (const name of ["etag", "content-type", "cache-control", "vary"]) {
        expect(waitedFor.headers.get(name)).toBe(atHand.headers.get(name) ?? "");
      }
      gatehouse.clock.advance(10_000);
      const headers = { ...asIs, Authorization: `Bearer ${token}` };
      const head = await fetch(`${gatehouse.url}/v2/game/server?Queue=true`, { method: "HEAD", headers });
      expect(head.headers.get("x-cache")).toBe("miss");
      expect(head.headers.get("content-length")).toBe(atHand.headers.get("content-length"));
    },
  );

  test("an answer for a set of sections that was requested before comes from memory, byte for byte", async () => {
    const bodies = await Promise.all(Array.from({ length: 5 }, () => readText(`?${EVERYTHING}`)));
    expect(new Set(bodies).size).toBe(1);
  });
});

describe("9 versioning, 4.2 v1", () => {
  test("9.1 and 9.2: the version is part of the path, and only v1 and v2 are versions", async () => {
    expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
    for (const path of ["/game/server", "/v3/game/server", "/v2.0/game/server"]) {
      expect((await gatehouse.get(path, token)).status).toBe(404);
    }
  });

  const OBSOLETE = '{"code":5018,"message":"Endpoint устарел. Используйте более новую версию API."}';

  test("4.2 and 9.3: every v1 path and method answers 500 with 5018 and the exact message, with or without a key", async () => {
    const paths = [
      "/v1",
      "/v1/",
      "/v1/game/server",
      "/v1/game/server/joinlogs",
      "/v1/game/server/vehicles",
      "/v1/game/server/modcalls",
      "/v1/game/server/staff",
      "/v1/game/server/queue",
      "/v1/town/game/server",
      "/v1/town/game/server/players",
      "/v1/town/game/server/queue",
      "/v1/game/server/command",
      "/v1/anything?x=%zz",
    ];
    for (const path of paths) {
      for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
        const response = await fetch(gatehouse.url + path, {
          method,
          ...(method === "POST" && { body: "not json", headers: { Authorization: `Bearer ${token}` } }),
        });
        expect(response.status).toBe(500);
        expect(new Uint8Array(await response.arrayBuffer())).toEqual(new TextEncoder().encode(OBSOLETE));
      }
    }
  });

  test("8.1 v1 calls, its command endpoint too, are never counted, and never reach the game API", async () => {
    for (let i = 0; i < 130; i++) await gatehouse.get(`/v1/game/server${i % 2 ? "" : "/command"}`, token);
    expect((await read()).headers.get("x-ratelimit-remaining")).toBe("119");
    expect(api.calls).toHaveLength(1);
  });

  test("paths that only look like v1 are unknown", async () => {
    for (const path of ["/v10", "/v1x", "/v1x/game/server", "/V1/game/server"]) {
      const response = await gatehouse.get(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ code: 5020, message: "not_found" });
    }
  });
});

describe("settings", () => {
  const start = (env: Record<string, string>) => startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url, ...env } });

  test("GATEHOUSE_UNKNOWN_FIELDS=pass relays what we do not know, behind what we do", async () => {
    const other = await start({ GATEHOUSE_UNKNOWN_FIELDS: "pass" });
    const { token } = await other.addKey(await other.addServer());
    api.answer = () => Response.json({ "7": "new", ...BASE_INFO, Vehicles: [{ Name: "Car", Plate: "X-1" }] });
    const body = await (await other.get("/v2/game/server?Vehicles=true", token)).text();
    expect(body).toBe(`${JSON.stringify(BASE_INFO).slice(0, -1)},"7":"new","Vehicles":[{"Name":"Car","Plate":"X-1"}]}`);
    await other.stop();
  });

  test("GATEHOUSE_STALE_MS lets an older reading stand in for a failure, with its honest age", async () => {
    const other = await start({ GATEHOUSE_FRESH_MS: "1000", GATEHOUSE_STALE_MS: "10000" });
    const { token } = await other.addKey(await other.addServer());
    const readAgain = () => other.get("/v2/game/server", token);
    await readAgain();
    api.answer = () => new Response("broken", { status: 502 });
    other.clock.advance(10_999);
    const stale = await readAgain();
    expect([stale.status, stale.headers.get("age"), stale.headers.get("x-cache")]).toEqual([200, "10", "hit"]);
    other.clock.advance(1);
    expect((await readAgain()).status).toBe(400);
    await other.stop();
  });

  test("GATEHOUSE_UPSTREAM_GLOBAL_KEY is sent unchanged, beside the server's own key", async () => {
    const other = await start({ GATEHOUSE_UPSTREAM_GLOBAL_KEY: "application-key" });
    const { token } = await other.addKey(await other.addServer({ serverKey: "own-Key" }));
    await other.get("/v2/game/server", token);
    expect(api.calls.at(-1)?.headers.get("authorization")).toBe("application-key");
    expect(api.calls.at(-1)?.headers.get("server-key")).toBe("own-Key");
    await other.stop();
  });
});

// The document describes the real server: every route is in it, and every documented answer is given with the documented
// headers and body.
import { afterAll, describe, expect, test } from "bun:test";
import { EVENT_TYPES } from "../../src/core/events/event-types.ts";
import { KNOWN_CODES } from "../../src/core/readings/upstream-codes.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import { buildDocument } from "../../src/http/openapi/document.ts";
import { UPSTREAM_GUIDE } from "../../src/http/openapi/error-guide.ts";
import { toTemplate } from "../../src/http/openapi/path-parameters.ts";
import { METHODS, type Route } from "../../src/http/router.ts";
import { type Handlers, listRoutes } from "../../src/http/routes.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { openStage } from "./openapi-stage.ts";
import { createWitness } from "./openapi-witness.ts";

const stage = await openStage();
afterAll(() => stage.stop());

const response = await stage.gatehouse.get("/openapi.json");
const document = (await response.json()) as Record<string, unknown>;
const witness = createWitness(document);
const findOperation = (id: string) => {
  const found = witness.operations.find((operation) => operation.id === id);
  if (!found) throw new Error(`${id} is not documented`);
  return found;
};

/** Handlers are not called here, so any value will do. */
const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });
const routes = listRoutes(new Proxy({}, { get: () => nothing }) as unknown as Handlers);

/** Pages, their files, and the façade, which has a document of its own. */
const UNDESCRIBED = /^\/($|assets\/|client\/|docs($|\/)|status(\/:slug)?$|v2\/server($|\/)|erlc\/)/;

function listMethods(all: readonly Route[]) {
  return all
    .filter(({ path }) => !UNDESCRIBED.test(path))
    .flatMap((route) => METHODS.filter((method) => method in route).map((method) => ({ method, path: route.path })));
}

describe("the document and the route table", () => {
  const routed = listMethods(routes).map(({ method, path }) => `${method} ${toTemplate(path)}`);
  const documented = witness.operations
    .filter(({ tag }) => tag !== "Version 1")
    .map(({ method, template }) => `${method} ${template}`);

  test("every method of every route is documented, and nothing else is", () => {
    expect(routed.length).toBeGreaterThan(25);
    expect(documented.toSorted()).toEqual(routed.toSorted());
  });

  test("a route without a description is found", () => {
    const handler = () => new Response();
    const more = [...routes, { path: "/new", GET: handler }];
    expect(Object.keys(buildDocument(more, "1").paths)).not.toContain("/new");
    expect(listMethods(more).map(({ path }) => path)).toContain("/new");
  });

  test("the old version's ten endpoints are listed, deprecated, with their 500 as the only answer", () => {
    const old = witness.operations.filter(({ tag }) => tag === "Version 1");
    expect(old.map(({ method, template }) => `${method} ${template}`)).toEqual([
      "GET /v1/game/server",
      "GET /v1/game/server/joinlogs",
      "GET /v1/game/server/vehicles",
      "GET /v1/game/server/modcalls",
      "GET /v1/game/server/staff",
      "GET /v1/game/server/queue",
      "GET /v1/{community}/game/server",
      "GET /v1/{community}/game/server/players",
      "GET /v1/{community}/game/server/queue",
      "POST /v1/game/server/command",
    ]);
    for (const { errors, statuses } of old) {
      expect(statuses).toEqual([500]);
      expect(errors).toEqual([{ status: 500, code: 5018 }]);
    }
    const paths = document.paths as Record<string, Record<string, { deprecated?: boolean }>>;
    expect(paths["/v1/game/server"]?.get?.deprecated).toBe(true);
  });
});

describe("the server gives every documented answer", () => {
  for (const operation of witness.operations) {
    const { id, method, template } = operation;

    if (operation.tag !== "Version 1") {
      test(`${method} ${template} succeeds as documented`, async () => {
        const answer = await stage.send(operation, await stage.plan(operation));
        const { status } = answer;
        expect(await witness.findFaults(id, answer)).toEqual([]);
        expect(status).toBeLessThanOrEqual(302);
      });
    }

    for (const error of operation.errors) {
      test(`${method} ${template} is refused with ${error.status} and ${error.code} as documented`, async () => {
        const answer = await stage.provoke(operation, error);
        if (!answer) throw new Error("nobody knows how to provoke it");
        const { code } = (await answer.clone().json()) as { code: number };
        expect({ status: answer.status, code }).toEqual(error);
        expect(await witness.findFaults(id, answer)).toEqual([]);
      });
    }
  }

  for (const id of [
    "readServer",
    "readServerOfCommunity",
    "readServerInfo",
    "tellOpenApi",
    "readMap",
    "readMapImage",
    "readServerMap",
    "readStatus",
    "readStatusBadge",
    "readShieldsBadge",
    "readOutageFeed",
  ]) {
    test(`${id} answers 304 as documented`, async () => {
      const operation = findOperation(id);
      const good = await stage.plan(operation);
      const etag = (await stage.send(operation, good)).headers.get("etag") ?? "";
      const again = await stage.send(operation, { ...good, headers: { "If-None-Match": etag } });
      expect(again.status).toBe(304);
      expect(await witness.findFaults(id, again)).toEqual([]);
    });
  }

  test("a socket whose token comes in a frame is opened as documented, and not counted", async () => {
    const operation = findOperation("openEventSocket");
    const answer = await stage.send(operation, { ...(await stage.plan(operation)), token: undefined });
    expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([101, null]);
    expect(await witness.findFaults("openEventSocket", answer)).toEqual([]);
  });

  test("a read with all nine sections is as documented, and a 5019 after a limit has its Retry-After", async () => {
    const operation = findOperation("readServer");
    const query = SECTIONS.map((name) => `${name}=true`).join("&");
    const all = await stage.send(operation, { ...(await stage.plan(operation)), query });
    expect(Object.keys((await all.clone().json()) as object)).toHaveLength(8 + SECTIONS.length);
    expect(await witness.findFaults("readServer", all)).toEqual([]);

    const good = await stage.plan(operation);
    const { read } = stage.game;
    stage.game.read = () => Response.json({ code: 4001, message: "slow down", retry_after: 3 }, { status: 429 });
    const limited = await stage.send(operation, good);
    stage.game.read = read;
    expect(limited.headers.get("retry-after")).toBe("3");
    expect(await witness.findFaults("readServer", limited)).toEqual([]);
    stage.clock.advance(60_000);
  });

  for (const id of ["readEvents", "readEventsOfCommunity", "readServerEvents"]) {
    test(`${id} answers pages in both directions as documented`, async () => {
      const operation = findOperation(id);
      const good = await stage.plan(operation);
      const read = async (query: string) => {
        const page = await stage.send(operation, { ...good, query });
        const { items, next } = (await page.clone().json()) as { items: { type: string }[]; next: string };
        expect([page.status, await witness.findFaults(id, page)]).toEqual([200, []]);
        return { types: items.map(({ type }) => type), next };
      };
      const first = await read("after=earliest&limit=1");
      expect(first.types).toEqual(["player.killed"]);
      const second = await read(`after=${first.next}`);
      expect(second.types).toEqual(["command.used"]);
      expect((await read(`after=${second.next}`)).types).toEqual([]);
      expect((await read(`before=${second.next}`)).types).toEqual(["player.killed", "command.used"]);
    });
  }

  test("the answers about the past have something to tell, and are as documented all the same", async () => {
    const told: Record<string, unknown> = {};
    for (const operation of witness.operations.filter(({ tag }) => tag === "History")) {
      const answer = await stage.send(operation, await stage.plan(operation));
      const body = (await answer.clone().json()) as Record<"points" | "items" | "table", unknown[]>;
      expect(await witness.findFaults(operation.id, answer)).toEqual([]);
      const known = (body.points ?? []).filter((point) => (point as { known: number }).known > 0);
      told[operation.id] = body.items?.length ?? body.table?.flat().filter(Number).length ?? known.length;
    }
    expect(told).toEqual({
      readPlayersHistory: 1,
      listSessions: 1,
      listPlaytime: 1,
      listStaffActivity: 1,
      readPeaks: 1,
      readPresent: 1,
    });
  });

  test("every status that is documented has been provoked above", () => {
    for (const { id, statuses, errors } of witness.operations) {
      const provoked = new Set(errors.map(({ status }) => status));
      const others = statuses.filter((status) => !provoked.has(status));
      // One success each, which may lead the browser elsewhere, and 304 where there is an ETag.
      expect({ id, count: others.filter((status) => status <= 302).length }).toEqual({
        id,
        count: id.endsWith("V1") ? 0 : 1,
      });
      expect(others.filter((status) => status > 302 && status !== 304)).toEqual([]);
    }
  });

  test("an answer that the document does not describe is noticed", async () => {
    const noSniffing = { "X-Content-Type-Options": "nosniff" };
    const headers = { "Content-Type": "application/json", "Cache-Control": "no-store", ...noSniffing };
    const find = (body: unknown, more = {}, status = 200) =>
      witness.findFaults("tellAlive", Response.json(body, { status, headers: { ...headers, ...more } }));
    expect(await find({ status: "ok" })).toEqual([]);
    expect(await find({ status: "dead" })).toHaveLength(1);
    expect(await find({ status: "ok", extra: 1 })).toHaveLength(1);
    expect(await find({ status: "ok" }, { "X-New": "1" })).toHaveLength(1);
    expect(await find({ status: "ok" }, {}, 418)).toHaveLength(1);
    const bare = Response.json({ status: "ok" });
    expect(await witness.findFaults("tellAlive", bare)).toEqual([
      "x-content-type-options is missing",
      "Cache-Control is missing",
    ]);
  });
});

describe("the document's shapes", () => {
  const { schemas, securitySchemes } = document.components as Record<string, Record<string, Record<string, never>>>;

  test("keep the pattern of Staff's keys, the two items of Position and int64 ids", () => {
    expect(schemas?.StaffMap).toMatchObject({
      type: "object",
      patternProperties: { "^[0-9]+$": { type: "string" } },
      additionalProperties: false,
    });
    expect(schemas?.EmergencyCall?.properties).toMatchObject({
      Position: { type: "array", minItems: 2, maxItems: 2, items: { type: "number" } },
      Caller: { type: "integer", format: "int64" },
    });
    expect(schemas?.ServerInfo?.properties).toMatchObject({
      OwnerId: { type: "integer", format: "int64" },
      CoOwnerIds: { items: { type: "integer", format: "int64" } },
      Queue: { items: { type: "integer", format: "int64" } },
    });
  });

  test("name five ways to sign in", () => {
    const names = ["apiKey", "sessionCookie", "sessionToken", "masterKey", "metricsToken"];
    expect(Object.keys(securitySchemes ?? {})).toEqual(names);
  });

  test("every code of the game API that Gatehouse knows is explained", () => {
    const explained = Object.keys(UPSTREAM_GUIDE).map(Number);
    expect(explained).toEqual([...KNOWN_CODES].toSorted((a, b) => a - b));
  });
});

type Operation = { tags: string[]; security: Record<string, unknown>[]; operationId: string };

async function readDocument(query: string) {
  const answer = await stage.gatehouse.get(`/openapi.json${query}`);
  const text = await answer.text();
  const parsed = JSON.parse(text) as {
    info: { description: string };
    paths: Record<string, Record<string, Operation>>;
    tags: { name: string }[];
    "x-tagGroups": { name: string; tags: string[] }[];
    components: Record<string, Record<string, unknown>>;
  };
  return { ...parsed, text, etag: answer.headers.get("etag") };
}

const callers = await readDocument("?for=callers");
const operations = Object.values(callers.paths).flatMap((item) => Object.values(item));

describe("events in the document", () => {
  type Schema = { oneOf: { $ref: string }[]; discriminator: { mapping: Record<string, string> } };
  const schemas = callers.components.schemas as Record<string, unknown>;

  test("are a union by type, whose members say what data and meta hold", () => {
    const { oneOf, discriminator } = schemas.Event as Schema;
    expect(Object.keys(discriminator.mapping)).toEqual([...EVENT_TYPES]);
    expect(oneOf.map(({ $ref }) => $ref)).toEqual(Object.values(discriminator.mapping));
    expect(schemas.PlayerKilledEvent).toMatchObject({
      properties: { type: { const: "player.killed" }, data: { $ref: "#/components/schemas/KillLog" } },
    });
    expect(schemas.CommandUsedEvent).toMatchObject({ properties: { meta: { properties: { targets: {} } } } });
  });

  test("of every type that the simulator makes fit their member", async () => {
    const simulator = await startSimulator({ players: 20, speed: 600, readLimit: 0 });
    const env = { GATEHOUSE_UPSTREAM_URL: simulator.url, GATEHOUSE_ARCHIVE: "sqlite" };
    const gatehouse = await startGatehouse({ env });
    try {
      const { token } = await gatehouse.addKey(await gatehouse.addServer({ serverKey: "union-Town" }));
      const seen = new Set<string>();
      await until("too few types of events", async () => {
        gatehouse.clock.now += 5_000;
        await gatehouse.get("/v2/game/server", token);
        const page = await gatehouse.get("/v2/game/server/events?limit=500", token);
        const copy = new Response(await page.clone().text(), { status: page.status, headers: [...page.headers] });
        expect(await witness.findFaults("readEvents", copy)).toEqual([]);
        for (const { type } of ((await page.json()) as { items: { type: string }[] }).items) seen.add(type);
        return seen.size >= 12;
      });
    } finally {
      await gatehouse.stop();
      await simulator.stop();
    }
  });

  test("and every other list of names has its type", () => {
    const bare: unknown[] = [];
    JSON.stringify(document, (_, value) => {
      if (Array.isArray(value?.enum) && value.type === undefined) bare.push(value.enum);
      return value;
    });
    expect(bare).toEqual([]);
  });
});

describe("GET /openapi.json?for=facade", () => {
  test("has the paths of the façade, which no other document has, and answers fit it", async () => {
    const { text, paths, components } = await readDocument("?for=facade");
    expect(Object.keys(paths)).toHaveLength(13);
    expect(Object.keys(components.securitySchemes ?? {})).toEqual(["facadeKey"]);
    for (const path of Object.keys(paths)) {
      expect(/^\/(v2\/server|erlc\/v1\/server)/.test(path)).toBe(true);
      expect([document.paths, callers.paths].some((all) => Object.hasOwn(all as object, path))).toBe(false);
    }
    const facade = createWitness(JSON.parse(text));
    const simulator = await startSimulator({ readLimit: 0 });
    const gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: simulator.url } });
    try {
      const { token } = await gatehouse.addKey(await gatehouse.addServer({ serverKey: "facade-Town" }));
      for (const { id, template, method } of facade.operations) {
        for (const headers of [{ "server-key": token }, { "server-key": "x-y" }]) {
          const answer = await fetch(gatehouse.url + template, { method, headers });
          expect([template, answer.status, await facade.findFaults(id, answer)]).toEqual([template, answer.status, []]);
        }
      }
    } finally {
      await gatehouse.stop();
      await simulator.stop();
    }
  });
});

describe("GET /openapi.json?for=callers", () => {
  test("has what a key can be used for, and nothing that needs a secret of the operator", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).toContain("readServer");
    expect(ids).toContain("submitCommandOfCommunity");
    expect(ids).toContain("tellAlive");
    const signIns = new Set(operations.flatMap(({ security }) => security.flatMap((way) => Object.keys(way))));
    expect([...signIns]).toEqual(["apiKey"]);
    expect(Object.keys(callers.components.securitySchemes ?? {})).toEqual(["apiKey"]);
    expect(Object.keys(callers.paths).filter((path) => /^\/(admin|metrics|v1|hooks|session)/.test(path))).toEqual([]);
    expect(callers.text.match(/master.key|admin API|METRICS_TOKEN/gi)).toBeNull();
    // Nor does any text lead there.
    expect(callers.text.match(/\/(?:admin|session|hooks)\b/g)).toBeNull();
  });

  test("has no tag, group, schema, answer or header that nothing refers to", () => {
    const tags = [...new Set(operations.flatMap((operation) => operation.tags))].toSorted();
    expect(callers.tags.map(({ name }) => name).toSorted()).toEqual(tags);
    expect(callers["x-tagGroups"].flatMap((group) => group.tags).toSorted()).toEqual(tags);
    for (const kind of ["schemas", "responses", "headers"]) {
      const named = Object.keys(callers.components[kind] ?? {});
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !callers.text.includes(`"#/components/${kind}/${name}"`))).toEqual([]);
    }
  });

  test("leads to the clients and the guides, and warns of Players=True", () => {
    for (const words of ["[/client/](/client/)", "docs/bots.md", "Players=True"])
      expect(callers.info.description).toContain(words);
  });

  test("explains the errors that callers can get, and no others", () => {
    const explained = Array.from(callers.info.description.matchAll(/^- \*\*(5\d{3})\*\*/gm), ([, code]) =>
      Number(code),
    );
    for (const code of [5007, 5008, 5016, 5018, 5019, 5020, 5100, 5101]) expect(explained).toContain(code);
    for (const code of [5006, 5107]) expect(explained).not.toContain(code);
  });

  test("describes every operation that is left as the whole document does, and is another document", async () => {
    const whole = await readDocument("");
    for (const [path, item] of Object.entries(callers.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        const { security: _, ...described } = operation;
        expect(whole.paths[path]?.[method]).toMatchObject(described);
      }
    }
    expect(callers.etag).not.toBe(whole.etag);
    for (const query of ["?for=operators", "?for=", "?FOR=callers", `?x=${"a".repeat(300)}&for=callers`]) {
      expect((await readDocument(query)).etag).toBe(whole.etag);
    }
  });

  test("says of every id that it is an integer that may exceed 2^53", () => {
    const schemas = callers.components.schemas as Record<
      string,
      { properties: Record<string, { description?: string; items?: { description?: string } }> }
    >;
    for (const [schema, field] of [
      ["ServerInfo", "OwnerId"],
      ["ServerInfo", "CoOwnerIds"],
      ["ServerInfo", "Queue"],
      ["EmergencyCall", "Caller"],
      ["EmergencyCall", "Players"],
      ["Player", "Player"],
    ] as const) {
      expect([field, schemas[schema]?.properties[field]?.description]).toEqual([
        field,
        expect.stringContaining("may exceed 2^53"),
      ]);
    }
  });
});

describe("GET /openapi.json", () => {
  test("needs no key, is OpenAPI 3.1, and may be kept as long as its ETag holds", async () => {
    expect(response.status).toBe(200);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(response.headers.get("cache-control")).toBe("public, no-cache");
    const again = await stage.gatehouse.get("/openapi.json");
    expect(again.headers.get("etag")).toBe(response.headers.get("etag"));
  });

  test("is compressed for clients that accept gzip", async () => {
    const packed = await fetch(`${stage.gatehouse.url}/openapi.json`, {
      headers: { "Accept-Encoding": "gzip" },
      decompress: false,
    });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    const bytes = Bun.gunzipSync(await packed.arrayBuffer());
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(document);
  });

  test("takes nothing but GET and HEAD", async () => {
    const posted = await fetch(`${stage.gatehouse.url}/openapi.json`, { method: "POST" });
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET, HEAD");
  });
});

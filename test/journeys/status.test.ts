// The public status through the whole app: what everybody sees, what nobody sees, and how often it may be asked for.
import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { NO_HISTORY } from "../../src/core/history/history.ts";
import type { StatusResource } from "../../src/core/wire/status.ts";
import { MemoryArchive, makeEvent } from "../event-archive.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { openStage } from "./stage.ts";

const INFO = { ...BASE_INFO, ...ALL_SECTIONS_INFO, JoinKey: "SecretJoin" };
const FORMS = ["", ".json", "/badge.svg", "/badge.json", "/feed.atom"];
const NAME = "Cedar <b>County</b> & Co";

const archive = new MemoryArchive();
let made = 0;

const { game, gatehouse } = await openStage({
  archive,
  answer: () => Response.json(INFO),
  env: { GATEHOUSE_TRUST_PROXY: "127.0.0.1" },
});

/** A server that was read once. Each has visitors of its own, so that no test uses up the requests of another. */
async function makeHome(status: object | null = {}) {
  const slug = `cedar-${++made}`;
  const visitor = `203.0.113.${made}`;
  const server = await gatehouse.addServer({ name: NAME });
  const key = await gatehouse.addKey(server);
  const path = `/admin/servers/${server.serverId}`;
  const set = (public_status: object | null) => gatehouse.admin("PATCH", path, { public_status });
  if (status) expect((await set({ slug, ...status })).status).toBe(200);
  await gatehouse.get("/v2/game/server", key.token);
  const visit = (form = "", headers: Record<string, string> = {}) =>
    gatehouse.get(`/status/${slug}${form}`, undefined, { "X-Forwarded-For": visitor, ...headers });
  const read = async () => (await (await visit(".json")).json()) as StatusResource;
  return { ...key, server, slug, set, visit, read, visitor };
}

describe("what is public", () => {
  test("nothing, until the operator says so, and nothing again at once when it is switched off", async () => {
    const { slug, set, visit, server } = await makeHome(null);
    const unknown = await (await gatehouse.get("/status/no-such-slug")).text();
    const bodies = async () => Promise.all(FORMS.map(async (form) => (await visit(form)).text()));
    expect(await bodies()).toEqual(FORMS.map(() => unknown));
    await set({ slug });
    expect((await bodies()).every((body) => body !== unknown)).toBe(true);
    await set(null);
    expect(await bodies()).toEqual(FORMS.map(() => unknown));
    const audit = await (await gatehouse.admin("GET", "/admin/audit?limit=2")).json();
    expect(audit).toMatchObject({
      items: [
        {
          action: "server.changed",
          target: server.serverId,
          details: {
            before: { public_status: { slug, show_join_key: false } },
            after: { public_status: null },
          },
        },
        { details: { before: { public_status: null } } },
      ],
    });
    // A server that is deleted takes its status with it.
    await set({ slug });
    await gatehouse.admin("DELETE", `/admin/servers/${server.serverId}`);
    expect(await bodies()).toEqual(FORMS.map(() => unknown));
  });

  test("state, players and queue, in every form, and no player, owner or join key in any", async () => {
    const { visit, read } = await makeHome();
    const calls = game.calls.length;
    expect(await read()).toMatchObject({
      ...{ name: NAME, state: "online", players: 1, max_players: 40, queue: 1, join_key: null },
      ...{ read_at: gatehouse.clock.now, age_seconds: 0, outages: [] },
    });
    for (const form of FORMS) {
      const answer = await visit(form);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=15");
      const text = await answer.text();
      for (const secret of ["PlayerName", "SecretJoin", "Somebody", "srv_", "123"]) {
        expect(text).not.toContain(secret);
      }
      expect(text.includes("<b>") && !form.endsWith("json")).toBe(false);
    }
    // Old readings say nothing about now, and nobody asks the game for a visitor.
    gatehouse.clock.advance(3_600_000);
    expect(await read()).toMatchObject({ state: "unknown", players: null, queue: null, age_seconds: 3_600 });
    expect(game.calls.length).toBe(calls);
  });

  test("the join key, when the operator allows it and the server is online", async () => {
    const { set, slug, read, visit, token } = await makeHome({ show_join_key: true });
    expect((await read()).join_key).toBe("SecretJoin");
    expect(await (await visit()).text()).toContain("SecretJoin");
    gatehouse.clock.advance(10_000);
    game.answer = () => Response.json({ code: 3002, message: "offline" }, { status: 422 });
    await gatehouse.get("/v2/game/server", token);
    game.answer = () => Response.json(INFO);
    expect(await read()).toMatchObject({ state: "offline", players: 0, queue: 0, join_key: null });
    gatehouse.clock.advance(60_000);
    await gatehouse.get("/v2/game/server", token);
    expect((await read()).join_key).toBe("SecretJoin");
    await set({ slug });
    expect((await read()).join_key).toBeNull();
  });

  test("a week of players, hour by hour, and nothing about teams and staff", async () => {
    const { read, visit, server } = await makeHome();
    expect((await read()).history?.every(({ avg }) => avg === null)).toBe(true);
    const hour = Math.floor(gatehouse.clock.now / 3_600_000) * 3_600_000;
    const minute = {
      at: hour,
      knownMs: 60_000,
      playerMs: 7 * 60_000,
      min: 6,
      max: 9,
      queueMax: 5,
      staffMax: 3,
      teamKnownMs: 60_000,
    };
    const { version } = await archive.load(server.serverId);
    const history = { ...NO_HISTORY, minutes: [{ ...minute, teamMs: { Sheriff: 60_000 } }] };
    const now = gatehouse.clock.now;
    await archive.record([
      { serverId: server.serverId, version, events: [], memory: [], history, stillShown: [], now },
    ]);
    gatehouse.clock.advance(5_000);
    const status = await read();
    expect(status.history).toHaveLength(168);
    const { known, ...last } = status.history?.at(-1) ?? { known: 0 };
    expect(last).toEqual({ at: hour, min: 6, avg: 7, max: 9 });
    expect(known).toBeGreaterThan(0);
    expect(JSON.stringify(status)).not.toMatch(/sheriff|staff|team/i);
    expect(await (await visit()).text()).toContain('class="week"');
  });

  test("outages by the ledger, in the page and as a feed; without the archive the page stays", async () => {
    const { visit, read, server } = await makeHome();
    const at = gatehouse.clock.now;
    const change = (n: number, state: "offline" | "online", time: number) =>
      makeEvent(n, { type: `server.${state}`, at: time, data: "{}", identity: null, players: [] });
    await archive.add(server.serverId, change(1, "offline", at - 7_200_000), change(2, "online", at - 3_600_000));
    expect((await read()).outages).toEqual([{ state: "offline", from: at - 7_200_000, to: at - 3_600_000 }]);
    const feed = await visit("/feed.atom");
    expect(feed.headers.get("content-type")).toBe("application/atom+xml; charset=utf-8");
    expect(await feed.text()).toContain("&lt;b&gt;County&lt;/b&gt; &amp; Co was offline for 1 h");
    expect(await (await visit()).text()).toContain("Outages in the last 7 days");
    archive.fault = new StoreUnavailable("away");
    gatehouse.clock.advance(5_000);
    expect(await read()).toMatchObject({ state: "online", outages: null, history: null });
    expect((await visit()).status).toBe(200);
    expect((await visit("/feed.atom")).status).toBe(503);
    archive.fault = undefined;
  });

  test("is put together once in five seconds, however many ask, and is 304 for those who have it", async () => {
    const { visit, token } = await makeHome();
    const first = await visit(".json");
    const etag = first.headers.get("etag") ?? "";
    gatehouse.clock.advance(4_999);
    await gatehouse.get("/v2/game/server", token);
    const same = await visit(".json", { "If-None-Match": etag });
    expect([same.status, await same.text()]).toEqual([304, ""]);
    gatehouse.clock.advance(1);
    expect((await visit(".json", { "If-None-Match": etag })).status).toBe(200);
    const head = await fetch(first.url, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });
});

test("the page speaks the visitor's language, runs no script, and may not be framed; the rest is for all pages", async () => {
  const { visit } = await makeHome();
  const russian = await visit("", { "Accept-Language": "ru,en;q=0.5" });
  expect(russian.headers.get("content-language")).toBe("ru");
  expect(russian.headers.get("vary")).toContain("Accept-Language");
  expect(await russian.text()).toContain("Состояние сервера");
  const english = await visit("?lang=en", { "Accept-Language": "ru" });
  const policy = english.headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("script-src");
  const page = await english.text();
  expect(page).toContain('<html lang="en">');
  expect(page).not.toContain("<script");
  expect(page).toContain('http-equiv="refresh"');
  expect(await (await visit("?reload=off")).text()).not.toContain('http-equiv="refresh"');
  for (const form of FORMS.slice(1)) {
    expect((await visit(form)).headers.get("access-control-allow-origin")).toBe("*");
  }
});

test("an address has sixty requests a minute, wrong slugs included, and no key pays for them", async () => {
  const { visit, visitor, token } = await makeHome();
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const path = n % 2 === 0 ? "/status/wrong" : "/status/no_slug.json";
      return (await gatehouse.get(path, token, { "X-Forwarded-For": visitor })).status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([404]));
  const refused = await visit("/badge.svg");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(((await refused.json()) as { code: number }).code).toBe(5016);
  // Whoever writes the header in front of the proxy's entry stays the same visitor.
  expect((await visit("", { "X-Forwarded-For": `198.51.100.1, ${visitor}` })).status).toBe(429);
  expect((await visit("", { "X-Forwarded-For": "198.51.100.9" })).status).toBe(200);
  expect((await gatehouse.get("/v2/game/server", token)).headers.get("x-ratelimit-remaining")).toBe("118");
  gatehouse.clock.advance(60_000);
  expect((await visit()).status).toBe(200);
});

test("a slug that is taken or is none is refused, and changes nothing", async () => {
  const [one, two] = [await makeHome(), await makeHome(null)];
  const taken = await two.set({ slug: one.slug });
  expect([taken.status, await taken.json()]).toEqual([
    409,
    {
      code: 5104,
      message: "invalid_request",
      details: { public_status: "has a slug that belongs to another server already" },
      reasons: { public_status: { code: "slug_taken" } },
    },
  ]);
  for (const slug of ["", "Cedar", "-cedar", "cedar-", "a.json", "a/b", "x".repeat(65), 7]) {
    expect((await two.set({ slug })).status).toBe(400);
  }
  expect((await two.set({ slug: "x", show_players: true })).status).toBe(400);
  const body = { name: "Oak", server_key: "oak-Key", public_status: { slug: one.slug } };
  expect((await gatehouse.admin("POST", "/admin/servers", body)).status).toBe(409);
  const created = await gatehouse.admin("POST", "/admin/servers", {
    ...body,
    public_status: { slug: "oak", show_join_key: true },
  });
  expect(await created.json()).toMatchObject({ public_status: { slug: "oak", show_join_key: true } });
});

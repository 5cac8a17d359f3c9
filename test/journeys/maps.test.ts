// The map of a server through the whole app: what is learned, who may read it, and the picture that an operator sets.
import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { IMAGE_BYTES_MAX } from "../../src/core/maps/map-image.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import type { GameMapResource } from "../../src/core/wire/game-map.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { PNG_HEADER } from "./openapi-stage.ts";
import { openStage } from "./stage.ts";

const MAP = "/v2/game/server/map";
const IMAGE = `${MAP}/image`;
const CORNERS = "left=-1500&top=-1400&right=1500&bottom=1600";

const archive = new MemoryArchive();
let players: readonly object[] = [];

const { game, gatehouse } = await openStage({
  archive,
  answer: () => Response.json({ ...BASE_INFO, Players: players }),
});

async function makeHome(sections?: readonly string[]) {
  const server = await gatehouse.addServer({ community: "cedar" });
  const key = await gatehouse.addKey(server, sections && { sections: toSectionSet(sections) });
  await archive.add(server.serverId);
  const image = `/admin/servers/${server.serverId}/map-image`;
  return {
    ...key,
    ...server,
    get: (path: string, headers?: Record<string, string>) => gatehouse.get(path, key.token, headers),
    put: (body: unknown, query = CORNERS, headers?: Record<string, string>) =>
      gatehouse.admin("PUT", `${image}?${query}`, body, headers),
    remove: () => gatehouse.admin("DELETE", image),
  };
}

const codeOf = async (answer: Response) => ((await answer.json()) as { code: number }).code;

describe("the map", () => {
  test("is learned from readings, and written at the latest when Gatehouse stops", async () => {
    const own = new MemoryArchive();
    const other = await startGatehouse({ archive: own, env: { GATEHOUSE_UPSTREAM_URL: game.url } });
    const server = await other.addServer();
    const { token } = await other.addKey(server);
    const Location = { LocationX: 100.5, LocationZ: -20, StreetName: "Park Street", PostalCode: "218" };
    players = [
      { Player: "Ann:1", Team: "Civilian", Location },
      { Player: "Bob:2", Team: "Police", Location: { ...Location, LocationX: 110, StreetName: "\u0000" } },
    ];
    expect((await other.get("/v2/game/server", token)).status).toBe(200);
    await other.stop();
    players = [];
    const at = { cellX: 2, cellZ: -1, sumZ: 20 };
    expect(await own.listPlaces(server.serverId)).toEqual([
      { ...at, kind: "postal", name: "218", count: 2, sumX: 21 + 30, sumZ: 40 },
      { ...at, kind: "street", name: "Park Street", count: 1, sumX: 21 },
    ]);
  });

  test("tells the mean position in each cell, names that were seen most first", async () => {
    const home = await makeHome();
    const place = { cellX: 2, cellZ: -1, count: 4, sumX: 50, sumZ: 3 };
    await archive.addPlaces(home.serverId, [
      { ...place, kind: "street", name: "Elm", count: 1 },
      { ...place, kind: "street", name: "Park Street" },
      { ...place, kind: "street", name: "Park Street", cellX: 3, sumX: 0 },
      { ...place, kind: "postal", name: "218", sumX: 160 },
    ]);
    const answer = await home.get(MAP);
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("119");
    expect((await answer.json()) as GameMapResource).toEqual({
      cell_size: 40,
      streets: [
        {
          name: "Park Street",
          cells: [
            [93, -39, 4],
            [120, -39, 4],
          ],
        },
        { name: "Elm", cells: [[119, -37, 1]] },
      ],
      postal_codes: [{ name: "218", cells: [[119, -39, 4]] }],
      image: null,
    });
    const again = await home.get(MAP, { "If-None-Match": answer.headers.get("etag") ?? "" });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const operator = await gatehouse.admin("GET", `/admin/servers/${home.serverId}/map`);
    expect(operator.headers.get("etag")).toBe(answer.headers.get("etag"));
    expect((await gatehouse.get(`/v2/cedar/game/server/map`, home.token)).status).toBe(200);
  });

  test("is read from the archive again after half a minute, and a failure is not held", async () => {
    const home = await makeHome();
    await home.get(MAP);
    const place = { cellX: 0, cellZ: 0, count: 1, sumX: 0, sumZ: 0 };
    await archive.addPlaces(home.serverId, [{ ...place, kind: "street", name: "New Road" }]);
    expect(await (await home.get(MAP)).text()).not.toContain("New Road");
    gatehouse.clock.advance(30_000);
    archive.fault = new StoreUnavailable("away");
    expect((await home.get(MAP)).status).toBe(503);
    archive.fault = undefined;
    expect(await (await home.get(MAP)).text()).toContain("New Road");
  });

  test("needs a key that may read players, and an archive", async () => {
    const home = await makeHome(["Vehicles"]);
    for (const path of [MAP, IMAGE]) {
      const refused = await home.get(path);
      expect([refused.status, await codeOf(refused)]).toEqual([403, 5011]);
      expect((await gatehouse.get(path)).status).toBe(401);
    }
    const bare = await startGatehouse();
    const { token } = await bare.addKey(await bare.addServer());
    expect((await bare.get(MAP, token)).status).toBe(501);
    await bare.stop();
  });
});

describe("the picture behind the map", () => {
  test("is set by an operator, read with our own headers, replaced and removed, each in the audit log", async () => {
    const home = await makeHome();
    expect((await home.get(IMAGE)).status).toBe(404);
    expect((await home.remove()).status).toBe(404);
    // What the request calls it does not matter.
    const put = await home.put(PNG_HEADER, CORNERS, { "Content-Type": "text/html" });
    expect(put.status).toBe(200);
    const facts = (await put.json()) as NonNullable<GameMapResource["image"]>;
    const corners = { left: -1500, top: -1400, right: 1500, bottom: 1600 };
    expect(facts).toMatchObject({
      type: "image/png",
      width: 64,
      height: 32,
      bytes: PNG_HEADER.length,
      ...corners,
    });
    expect(((await (await home.get(MAP)).json()) as GameMapResource).image).toEqual(facts);
    const read = await home.get(IMAGE);
    expect(Buffer.from(await read.arrayBuffer()).equals(PNG_HEADER)).toBe(true);
    expect(Object.fromEntries(read.headers)).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "private, no-cache",
      etag: facts.etag,
    });
    expect((await home.get(IMAGE, { "If-None-Match": facts.etag })).status).toBe(304);
    expect((await home.put(PNG_HEADER, "left=0&top=0&right=9&bottom=9")).status).toBe(200);
    expect((await home.remove()).status).toBe(204);
    expect((await home.get(IMAGE)).status).toBe(404);
    const { items } = (await (await gatehouse.admin("GET", "/admin/audit?limit=3")).json()) as {
      items: { action: string; target: string; details: { before?: object; after?: object } }[];
    };
    const [removed, moved, set] = items;
    expect(items.every(({ target }) => target === home.serverId)).toBe(true);
    expect(removed?.action).toBe("server.map_image_removed");
    expect(moved).toMatchObject({
      action: "server.map_image_set",
      details: { before: corners, after: { right: 9 } },
    });
    expect(set?.details).toEqual({ after: { ...corners, type: "image/png", bytes: PNG_HEADER.length } });
  });

  test("is refused when it is no picture, too large, or its corners are wrong", async () => {
    const home = await makeHome();
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>';
    for (const body of [svg, "GIF89a", "", new Uint8Array(50)]) expect((await home.put(body)).status).toBe(415);
    const packed = await home.put(PNG_HEADER, CORNERS, { "Content-Encoding": "gzip" });
    expect(packed.status).toBe(415);
    const wide = new Uint8Array(PNG_HEADER).with(18, 0x20).with(19, 0x01);
    expect(await (await home.put(wide)).json()).toMatchObject({
      code: 5104,
      details: { body: expect.any(String) },
    });
    const large = new Uint8Array(IMAGE_BYTES_MAX + 1);
    large.set(PNG_HEADER);
    expect((await home.put(large)).status).toBe(413);
    const wrong = await home.put(PNG_HEADER, "left=1&left=2&top=5.5&right=200000&bottom=5");
    const { details } = (await wrong.json()) as { details: object };
    expect(Object.keys(details).toSorted()).toEqual(["left", "right", "top"]);
    expect(await archive.findMapImage(home.serverId)).toBeUndefined();
  });

  test("of four megabytes is taken, but only with the master key", async () => {
    const home = await makeHome();
    const full = new Uint8Array(IMAGE_BYTES_MAX);
    full.set(PNG_HEADER);
    expect((await home.put(full)).status).toBe(200);
    expect((await (await home.get(IMAGE)).arrayBuffer()).byteLength).toBe(IMAGE_BYTES_MAX);
    expect((await home.put(full, CORNERS, { Authorization: `Bearer ${home.token}` })).status).toBe(401);
    expect((await gatehouse.admin("PUT", `/admin/servers/srv_none/map-image?${CORNERS}`, full)).status).toBe(404);
  });

  test("goes with its server", async () => {
    const home = await makeHome();
    await home.put(PNG_HEADER);
    expect((await gatehouse.admin("DELETE", `/admin/servers/${home.serverId}`)).status).toBe(200);
    expect((await gatehouse.admin("GET", `/admin/servers/${home.serverId}/map`)).status).toBe(404);
    expect(await archive.findMapImage(home.serverId)).toBeUndefined();
  });
});

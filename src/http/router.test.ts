// Which paths are the same endpoint, which match no route, and which are under /v1.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Handler } from "./operation.ts";
import { isLegacyPath, type Route, Router } from "./router.ts";

const answer: Handler = () => new Response();
const ROUTES: Route[] = [
  { path: "/v2/game/server", GET: answer },
  { path: "/v2/:community/game/server", GET: answer },
  { path: "/v2/game/server/command", GET: answer, POST: answer },
  { path: "/v2/game/server/command/:id", GET: answer, DELETE: answer },
  { path: "/admin/keys/:id", PATCH: answer, GET: answer, DELETE: answer },
  { path: "/", GET: answer },
];
const router = new Router(ROUTES);
const pathOf = (path: string) => router.find(path)?.route.path;

describe("the read endpoint", () => {
  test.each(["/v2/game/server", "/v2/%67ame/server", "/%762/game/server"])("%s is it", (path) => {
    expect(pathOf(path)).toBe("/v2/game/server");
  });

  test.each([
    ["/v2/north/game/server", "north"],
    ["/v2/game/game/server", "game"],
    ["/v2/A-b_9/game/server", "A-b_9"],
    [`/v2/${"x".repeat(64)}/game/server`, "x".repeat(64)],
    ["/v2/n%6Frth/game/server", "north"],
    ["/v2/__proto__/game/server", "__proto__"],
  ])("%s is its community form, decoded", (path, community) => {
    expect(router.find(path)).toMatchObject({ route: { path: "/v2/:community/game/server" }, params: { community } });
  });

  test.each([
    ["a trailing slash", "/v2/game/server/"],
    ["a trailing slash in the community form", "/v2/north/game/server/"],
    ["two slashes", "/v2//game/server"],
    ["another case", "/V2/game/server"],
    ["another case of game", "/v2/Game/server"],
    ["a community of 65 characters", `/v2/${"x".repeat(65)}/game/server`],
    ["a community with a dot", "/v2/a.b/game/server"],
    ["a community with a blank", "/v2/a%20b/game/server"],
    ["a community with a line feed", "/v2/north%0A/game/server"],
    ["a community with a slash", "/v2/a%2Fb/game/server"],
    ["a community in Cyrillic", "/v2/%D1%81/game/server"],
    ["an encoded slash instead of one", "/v2/game%2Fserver"],
    ["two communities", "/v2/a/b/game/server"],
    ["something after it", "/v2/game/server/x"],
    ["something before it", "/x/v2/game/server"],
    ["escapes that are no UTF-8", "/v2/%FF/game/server"],
    ["a broken escape", "/v2/%/game/server"],
    ["a NUL in a segment that takes any text", "/admin/keys/%00"],
    ["a double encoding", "/v2/%2567ame/server"],
    ["nothing", ""],
    ["version 3", "/v3/game/server"],
  ])("%s is another path", (_, path) => {
    expect(pathOf(path)).toBeUndefined();
  });
});

describe("other routes", () => {
  test("a varying segment is handed on decoded", () => {
    expect(router.find("/v2/game/server/command/cmd%5F1")?.params).toEqual({ id: "cmd_1" });
  });
  test("an empty varying segment is another path", () => {
    expect(pathOf("/v2/game/server/command/")).toBeUndefined();
  });
  test("a fixed path has no varying segments", () => {
    expect(router.find("/")?.params).toEqual({});
  });
  test("Allow names the route's methods, HEAD beside GET", () => {
    const allowOf = (path: string) => router.find(path)?.allow.split(", ").sort();
    expect(allowOf("/v2/game/server")).toEqual(["GET", "HEAD"]);
    expect(allowOf("/v2/game/server/command")).toEqual(["GET", "HEAD", "POST"]);
    expect(allowOf("/admin/keys/key_1")).toEqual(["DELETE", "GET", "HEAD", "PATCH"]);
  });
  test("a path is found the same way the second time, and after thousands of others", () => {
    const before = pathOf("/v2/north/game/server");
    for (let i = 0; i < 5_000; i++) expect(pathOf(`/v2/c${i}/game/server`)).toBe("/v2/:community/game/server");
    for (let i = 0; i < 5_000; i++) expect(pathOf(`/nowhere/${i}`)).toBeUndefined();
    expect(pathOf("/v2/north/game/server")).toBe(before);
  });
});

describe("under /v1", () => {
  test.each([
    "/v1",
    "/v1/",
    "/v1/game/server",
    "/v1/north/game/server/players",
    "/v1/game/server/command",
    "/v1/anything/at/all",
    "/v1//",
    "/%761/game/server",
    "/v1/caf%C3%A9",
    "/v1/%2F",
    "/v1/%FF",
    "/v1/100%",
    "/v1/%ZZ/game/server",
    "/%761/%FF",
  ])("%s is", (path) => {
    expect(isLegacyPath(path)).toBe(true);
  });

  test.each([
    "/v10",
    "/v1x",
    "/v10/game/server",
    "/v1x/game/server",
    "/V1",
    "/v2/v1/game",
    "/",
    "",
    "v1",
    "//v1",
    "/v1%20/x",
    "/%FF/v1",
  ])("%p is not", (path) => {
    expect(isLegacyPath(path)).toBe(false);
  });

  test("anything at all after /v1/ is", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-~]*$/), (rest) => isLegacyPath(`/v1/${rest}`)),
      { numRuns: 500 },
    );
  });
});

test("any path at all is judged without throwing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (path) => {
      router.find(`/${path}`);
      isLegacyPath(`/${path}`);
    }),
  );
});

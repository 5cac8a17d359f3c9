// The path and query of the text that the runtime gives, which is not always a URL.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createTargetFinder, PATH_LENGTH_MAX, splitUrl } from "./target.ts";

describe("splitting a URL", () => {
  test.each([
    ["http://127.0.0.1:8080/v2/game/server", "/v2/game/server", ""],
    ["https://gate.example/v2/game/server?Players=true", "/v2/game/server", "Players=true"],
    ["http://h/?a=1&b=2", "/", "a=1&b=2"],
    ["http://h/x?", "/x", ""],
    ["http://h/x?a=b?c=/d", "/x", "a=b?c=/d"],
    ["http://h/x??a=b", "/x", "?a=b"],
    ["http://h/x#y", "/x", ""],
    ["http://h/x?a=b#y?z=1", "/x", "a=b"],
    ["http://h/x#y?a=b", "/x", ""],
    ["http://h//v1", "//v1", ""],
    ["http://[::1]:8080/x?y", "/x", "y"],
    ["http://h/%76%31?%50=1", "/%76%31", "%50=1"],
  ])("%s", (url, path, query) => {
    expect(splitUrl(url)).toEqual({ path, query });
  });

  test.each([
    ["/v1/game/server", "/v1/game/server", ""],
    ["/v2/game/server?Staff=true", "/v2/game/server", "Staff=true"],
    ["/", "/", ""],
    ["/x#y?a", "/x", ""],
  ])("a bare path, which a bad Host header leaves: %s", (url, path, query) => {
    expect(splitUrl(url)).toEqual({ path, query });
  });

  test("for any URL, path and query are those of the URL standard", () => {
    const url = fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ["http", "https"] });
    fc.assert(
      fc.property(url, (text) => {
        const { href, pathname, search } = new URL(text);
        expect(splitUrl(href)).toEqual({ path: pathname, query: search.slice(1) });
      }),
      { numRuns: 500 },
    );
  });

  test("anything at all is split without throwing", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof splitUrl(text).path === "string"));
  });
});

describe("a path over the maximum", () => {
  const findTarget = createTargetFinder([{ path: "/things/:id", GET: () => new Response() }]);
  const longest = "/things/".padEnd(PATH_LENGTH_MAX, "a");

  test("has no route, whatever it looks like, and the query does not count", () => {
    expect(findTarget(`http://h${longest}?${"b".repeat(1_000)}`).routeName).toBe("/things/:id");
    expect(findTarget(`http://h${longest}a`).routeName).toBe("none");
  });

  test("is still under version 1 when it begins so", () => {
    expect(findTarget(`http://h/v1/${longest}`).isLegacy).toBe(true);
    expect(findTarget(`http://h/%76%31/${longest}`).isLegacy).toBe(true);
    expect(findTarget(`http://h/v1${"a".repeat(PATH_LENGTH_MAX)}`).isLegacy).toBe(false);
  });
});

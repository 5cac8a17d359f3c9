// If-None-Match and Accept-Encoding.
import { describe, expect, test } from "bun:test";
import { ACCEPT_ENCODING_LENGTH_MAX, acceptsGzip, IF_NONE_MATCH_LENGTH_MAX, isMatchingEtag } from "./conditional.ts";

describe("If-None-Match", () => {
  const etag = 'W/"abc"';

  test.each([
    ["the tag as it was given", 'W/"abc"'],
    ["the tag without its weakness", '"abc"'],
    ["a list with it in front", 'W/"abc", "x"'],
    ["a list with it in the middle", '"x", W/"abc","y"'],
    ["a list with it at the end, without blanks", '"x","abc"'],
    ["a star", "*"],
    ["a tag with blanks around it", '  W/"abc"  '],
  ])("%s matches", (_, header) => {
    expect(isMatchingEtag(header, etag)).toBe(true);
  });

  test("a header over the maximum counts as absent", () => {
    const longest = '"abc"'.padEnd(IF_NONE_MATCH_LENGTH_MAX);
    expect([isMatchingEtag(longest, etag), isMatchingEtag(`${longest} `, etag)]).toEqual([true, false]);
  });

  test.each([
    ["no header", null],
    ["an empty header", ""],
    ["another tag", 'W/"abd"'],
    ["a longer tag", '"abcd"'],
    ["the tag without quotes", "abc"],
    ["the tag in capitals", '"ABC"'],
    ["a list of others", '"x", "y"'],
    ["a lower-case weakness mark, which is none", 'w/"abc"'],
  ])("%s does not", (_, header) => {
    expect(isMatchingEtag(header, etag)).toBe(false);
  });

  test("a strong tag is matched by its weak form too", () => {
    expect(isMatchingEtag('W/"abc"', '"abc"')).toBe(true);
  });
});

describe("Accept-Encoding", () => {
  test.each([
    "gzip",
    "GZIP",
    "x-gzip",
    "gzip, deflate, br, zstd",
    "br,gzip",
    "gzip;q=1.0",
    "gzip; q=0.001",
    "gzip ; q = 0.5",
    "*",
    "br, *;q=0.1",
    "*;q=0, gzip",
    "identity;q=0.5, gzip;q=1",
  ])("%p takes gzip", (header) => {
    expect(acceptsGzip(header)).toBe(true);
  });

  test("a header over the maximum counts as absent", () => {
    const longest = "gzip".padEnd(ACCEPT_ENCODING_LENGTH_MAX);
    expect([acceptsGzip(longest), acceptsGzip(`${longest} `)]).toEqual([true, false]);
  });

  test.each([
    null,
    "",
    "identity",
    "br",
    "deflate, br",
    "gzip;q=0",
    "gzip;q=0.000",
    "gzip; Q=0",
    "*;q=0",
    "*, gzip;q=0",
    "gzip;q=0, *",
    "gzipped",
    "not-gzip",
  ])("%p does not", (header) => {
    expect(acceptsGzip(header)).toBe(false);
  });
});

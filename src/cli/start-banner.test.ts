import { describe, expect, test } from "bun:test";
import { describeStart, type StartFacts } from "./start-banner.ts";

const FACTS: StartFacts = {
  url: "http://127.0.0.1:8080",
  adminUrl: undefined,
  upstreamUrl: "https://api.example",
  redis: undefined,
  dataDir: "/srv/data",
  apiKey: undefined,
  masterKey: undefined,
  hasServers: true,
};

describe("what a start prints for people", () => {
  test("names the dashboard, the reference, the game API and the store", () => {
    const text = describeStart(FACTS);
    expect(text).toMatch(/^ {2}dashboard +http:\/\/127\.0\.0\.1:8080\/$/m);
    expect(text).toMatch(/^ {2}reference +http:\/\/127\.0\.0\.1:8080\/docs$/m);
    expect(text).toMatch(/^ {2}game API +https:\/\/api\.example$/m);
    expect(text).toMatch(/^ {2}store +SQLite, in the data folder$/m);
    expect(text).toMatch(/^ {2}data +\/srv\/data$/m);
    expect(text).not.toContain("listening on");
    expect(text).not.toContain("servers add");
  });

  test("names a Redis without its password", () => {
    const nodes = [
      { host: "one", port: 6379 },
      { host: "::2", port: 6380 },
    ];
    const secret = { username: "me", password: "canary" };
    const redis = { nodes, isCluster: true, isTls: true, database: 0, ...secret };
    const text = describeStart({ ...FACTS, redis });
    expect(text).toMatch(/^ {2}store +Redis cluster at one:6379, \[::2\]:6380, over TLS$/m);
    expect(text).not.toContain("canary");
  });

  test("says what to do next when there is no server yet", () => {
    expect(describeStart({ ...FACTS, hasServers: false })).toContain('gatehouse servers add "My server"');
    const demo = { ...FACTS, hasServers: false, upstreamUrl: undefined, apiKey: "gth_x" };
    expect(describeStart(demo)).not.toContain("servers add");
  });

  test.each([
    ["http://0.0.0.0:8080", "http://127.0.0.1:8080/docs"],
    ["https://[::]:8443", "https://[::1]:8443/docs"],
  ])("at %s its links lead to this machine", (url, link) => {
    expect(describeStart({ ...FACTS, url })).toContain(link);
  });
});

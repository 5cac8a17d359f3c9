import { describe, expect, test } from "bun:test";
import { describeStart, type StartFacts } from "./serve.ts";

const FACTS: StartFacts = {
  url: "http://127.0.0.1:8080",
  adminUrl: undefined,
  upstreamUrl: "https://api.example",
  store: "sqlite",
  redis: undefined,
  archive: "sqlite" as const,
  dataDir: "/srv/data",
  demoToken: undefined,
  newMasterKey: undefined,
  servers: "served",
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

  test("names PostgreSQL and Redis without their passwords", () => {
    const nodes = [
      { host: "one", port: 6379 },
      { host: "::2", port: 6380 },
    ];
    const secret = { username: "me", password: "canary" };
    const redis = { nodes, isCluster: true, isTls: true, database: 0, ...secret };
    const store = { postgresUrl: "postgres://me:canary@db.example.org/gatehouse" };
    const text = describeStart({ ...FACTS, store, redis });
    expect(text).toMatch(/^ {2}store +PostgreSQL at db.example.org\/gatehouse$/m);
    expect(text).toMatch(/^ {2}shared +Redis cluster at one:6379, \[::2\]:6380, over TLS$/m);
    expect(text).not.toContain("canary");
  });

  test("says what to do next when there is no server yet", () => {
    expect(describeStart({ ...FACTS, servers: "none" })).toContain('gatehouse servers add "My server"');
    const demo = { servers: "none", upstreamUrl: undefined, demoToken: "gth_x" } as const;
    expect(describeStart({ ...FACTS, ...demo })).not.toContain("servers add");
  });

  test("does not say that there is no server when all are parked", () => {
    const parked = describeStart({ ...FACTS, servers: "parked", upstreamUrl: undefined });
    expect(parked).toContain("Every game server is parked: they were added for a real game API");
    expect(parked).toContain("GATEHOUSE_UPSTREAM_URL");
    expect(parked).not.toContain("servers add");
    const demoOnly = describeStart({ ...FACTS, servers: "parked" });
    expect(demoOnly).toContain("Every game server is parked: they were added on the simulator");
    expect(demoOnly).toContain('gatehouse servers add "My server"');
  });

  test.each([
    ["http://0.0.0.0:8080", "http://127.0.0.1:8080/docs"],
    ["https://[::]:8443", "https://[::1]:8443/docs"],
  ])("at %s its links lead to this machine", (url, link) => {
    expect(describeStart({ ...FACTS, url })).toContain(link);
  });
});

test("the banner names the archive, and never the password of a PostgreSQL", () => {
  expect(describeStart(FACTS)).toContain("  archive     SQLite, in the data folder\n");
  expect(describeStart({ ...FACTS, archive: "off" })).toContain("  archive     off");
  const archive = { postgresUrl: "postgres://user:secret@db.example:5432/events" };
  const text = describeStart({ ...FACTS, archive });
  expect(text).toContain("  archive     PostgreSQL at db.example:5432/events\n");
  expect(text).not.toContain("secret");
});

// How the checks judge what they find: the limits, the sentences, and a remedy for every problem.
import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../core/durations.ts";
import type { UpstreamReading } from "../core/ports/upstream.ts";
import { findInstanceUrl, judgeInstance } from "./call-instance.ts";
import { judgeAddressLists } from "./check-address-lists.ts";
import { type FolderFacts, judgeDataFolder } from "./check-data-folder.ts";
import { type AnswerShape, findShape, type GameApiFacts, judgeGameApi } from "./check-game-api.ts";
import { judgeClock, judgeDisk, judgeOpenFileLimit, parseOpenFileLimit } from "./check-machine.ts";
import { applyRefusedKeys, judgeServerKeys, SERVERS_TESTED_MAX, testServerKeys } from "./check-server-keys.ts";
import { judgeSettings } from "./check-settings.ts";
import { judgeStore } from "./check-store.ts";
import { type CertificateFacts, judgeTls } from "./check-tls.ts";
import type { Finding } from "./finding.ts";

const NOW = Date.UTC(2026, 10, 15);
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** The results, after a check that every finding is a sentence and every problem has a remedy. */
function resultsOf(findings: readonly Finding[]): string[] {
  expect(findings.length).toBeGreaterThan(0);
  for (const { result, finding, remedy } of findings) {
    expect(finding).toMatch(/^\S.*\S$/);
    expect(remedy === null).toBe(result === "ok" || result === "skipped");
  }
  return findings.map(({ result }) => result);
}

describe("settings", () => {
  test("each fault is a failure, each unknown name a warning; without either all is ok", () => {
    expect(resultsOf(judgeSettings({ faults: [], unknown: [] }))).toEqual(["ok"]);
    expect(resultsOf(judgeSettings({ faults: ["A", "B"], unknown: ["GATEHOUSE_PROT"] }))).toEqual([
      "failure",
      "failure",
      "warning",
    ]);
  });
});

describe("address lists", () => {
  const elsewhere = { label: "bot", addresses: ["203.0.113.0/24"] };
  const local = { label: "status page", addresses: ["127.0.0.0/8", "203.0.113.7"] };
  const facts = { keys: [elsewhere], trustProxy: [] as string[], host: "0.0.0.0" };

  test.each([
    ["no keys to read", { ...facts, keys: undefined }, "skipped"],
    ["no lists", { ...facts, keys: [] }, "skipped"],
    ["a list of other addresses, open to all", facts, "ok"],
    ["a list of other addresses, on the loopback address, without a proxy", { ...facts, host: "::1" }, "warning"],
    ["the same with a proxy", { ...facts, host: "127.0.0.1", trustProxy: ["127.0.0.1"] }, "ok"],
    ["a list with our own address, without a proxy", { ...facts, keys: [local] }, "warning"],
    ["a list with our own IPv6 address", { ...facts, keys: [{ label: "x", addresses: ["::/0"] }] }, "warning"],
    ["the same behind a trusted proxy", { ...facts, keys: [local], trustProxy: ["10.0.0.1"] }, "ok"],
  ])("%s", (_, given, result) => {
    expect(resultsOf(judgeAddressLists(given))).toEqual([result]);
  });

  test("the keys are named, the first three of many", () => {
    const find = (count: number) =>
      judgeAddressLists({ ...facts, keys: Array.from({ length: count }, () => local) })[0]?.finding;
    expect(find(1)).toStartWith('The key "status page" may be used from this machine');
    expect(find(5)).toStartWith('The keys "status page", "status page", "status page" and 2 more may');
  });
});

describe("data folder", () => {
  const intact: FolderFacts = {
    path: "/srv/data",
    userId: 1000,
    mode: 0o700,
    owner: 1000,
    isWritable: true,
    files: [
      { name: "gatehouse.db", mode: 0o600, owner: 1000 },
      { name: "secret.key", mode: 0o600, owner: 1000 },
    ],
    masterKeyCharacters: 43,
  };
  const file = (name: string, mode: number, owner = 1000) => ({ ...intact, files: [{ name, mode, owner }] });

  test.each<[string, FolderFacts, string[]]>([
    ["a folder as the first start creates it", intact, ["ok"]],
    ["root checks the folder of a user", { ...intact, userId: 0 }, ["ok"]],
    ["a system without owners", { ...file("secret.key", 0o666, 0), userId: undefined, mode: 0o777 }, ["ok"]],
    ["a key file that is never written again", file("secret.key", 0o400), ["ok"]],
    ["a folder that others can look into", { ...intact, mode: 0o755 }, ["warning"]],
    ["a folder that others can write to", { ...intact, mode: 0o770 }, ["failure"]],
    ["a folder of another user", { ...intact, owner: 1, files: [] }, ["failure"]],
    ["a folder that cannot be written to", { ...intact, isWritable: false }, ["failure"]],
    ["a secret that the group can read", file("secret.key", 0o640), ["failure"]],
    ["a master key that all can read", file("master.key", 0o604), ["failure"]],
    ["a key file that its owner cannot read", file("demo.key", 0o000), ["failure"]],
    ["a database that all can read", file("gatehouse.db", 0o644), ["warning"]],
    ["a database that its owner cannot write", file("gatehouse.db", 0o400), ["failure"]],
    ["a log file that root has left behind", { ...file("gatehouse.db-wal", 0o600, 0), userId: 0 }, ["failure"]],
    ["a master key that is too short", { ...intact, masterKeyCharacters: 31 }, ["failure"]],
  ])("%s", (_, facts, results) => {
    expect(resultsOf(judgeDataFolder(facts, facts.path))).toEqual(results);
  });

  test("a folder that does not exist yet is no fault", () => {
    expect(resultsOf(judgeDataFolder(undefined, "/srv/data"))).toEqual(["skipped"]);
  });

  test("a remedy can be copied into a shell, whatever the folder is called", () => {
    const [finding] = judgeDataFolder({ ...intact, path: "/srv/it's; here", mode: 0o755 }, "");
    expect(finding?.remedy).toEndWith("chmod 700 '/srv/it'\\''s; here'");
  });
});

describe("store", () => {
  const usable = { kind: "usable", schema: 2, knownSchema: 2, sizeBytes: 1, servers: 1, keys: 2 } as const;
  const judge = (report: Parameters<typeof judgeStore>[0], hasSecret = true) =>
    resultsOf(judgeStore(report, "/srv/gatehouse.db", hasSecret));

  test("an undamaged database with the right secret is ok; an older schema is a warning", () => {
    expect(judge({ ...usable, isSecretRight: true })).toEqual(["ok"]);
    expect(judge({ ...usable, schema: 1, isSecretRight: true })).toEqual(["warning"]);
    expect(judge({ kind: "absent" })).toEqual(["skipped"]);
    expect(judge({ kind: "empty" })).toEqual(["ok"]);
  });

  test("a database that Gatehouse would not start on is a failure", () => {
    expect(judge({ kind: "foreign" })).toEqual(["failure"]);
    expect(judge({ kind: "damaged", problem: "page 3" })).toEqual(["failure"]);
    expect(judge({ kind: "unreadable", reason: "no" })).toEqual(["failure"]);
    expect(judge({ kind: "newer", schema: 9, knownSchema: 2 })).toEqual(["failure"]);
    expect(judge({ ...usable, isSecretRight: false })).toEqual(["failure"]);
    expect(judge({ ...usable, isSecretRight: undefined }, false)).toEqual(["failure"]);
  });
});

describe("clock", () => {
  test.each([
    [NOW, undefined, "ok"],
    [NOW, 5_000, "ok"],
    [NOW, -5_000, "ok"],
    [NOW, 5_001, "warning"],
    [NOW, -5_001, "warning"],
    [0, undefined, "failure"],
    [Date.UTC(2101, 0), 0, "failure"],
  ])("at %p, %p ms ahead: %s", (now, offsetMs, result) => {
    expect(resultsOf(judgeClock(now, offsetMs))).toEqual([result]);
  });
});

describe("TLS", () => {
  const facts: CertificateFacts = {
    names: ["gate.example.org", "10.0.0.1"],
    validFrom: NOW - DAY_MS,
    validTo: NOW + 30 * DAY_MS,
    keyPath: "/srv/key.pem",
    isKeyReadableByOthers: false,
  };

  test("30 days left are enough, one less is a warning, none is a failure", () => {
    expect(resultsOf(judgeTls(facts, NOW))).toEqual(["ok"]);
    expect(resultsOf(judgeTls(facts, NOW + 1))).toEqual(["warning"]);
    expect(resultsOf(judgeTls(facts, facts.validTo))).toEqual(["failure"]);
    expect(resultsOf(judgeTls(facts, facts.validFrom - 1))).toEqual(["failure"]);
  });

  test("the names in it are shown, an open key is a warning, unusable files are a failure", () => {
    expect(judgeTls(facts, NOW)[0]?.finding).toContain("gate.example.org, 10.0.0.1");
    expect(resultsOf(judgeTls({ ...facts, isKeyReadableByOthers: true }, NOW))).toEqual(["warning"]);
    expect(resultsOf(judgeTls(undefined, NOW))).toEqual(["failure"]);
    expect(resultsOf(judgeTls("none", NOW))).toEqual(["skipped"]);
  });
});

describe("game API", () => {
  const answered = (status: number, shape: AnswerShape = "json", movedTo?: string): GameApiFacts => {
    return { kind: "answered", status, shape, tookMs: 9, movedTo, offsetMs: 0 };
  };

  test.each<[string, GameApiFacts | "simulator", string]>([
    ["any answer of its front page in JSON is ok", answered(404), "ok"],
    ["a refusal because of a missing key is ok", answered(403), "ok"],
    ["a web page", answered(200, "page"), "warning"],
    ["a web page that says that there is nothing", answered(404, "page"), "warning"],
    ["an answer without JSON", answered(404, "other"), "warning"],
    ["a refusal without JSON", answered(403, "other"), "warning"],
    ["an empty answer", answered(200, "other"), "warning"],
    ["a redirect on the same host", answered(302), "warning"],
    ["a limit", answered(429), "warning"],
    ["a failure of its own", answered(502), "warning"],
    ["a redirect to another host", answered(301, "page", "elsewhere.example"), "warning"],
    ["a demonstration", "simulator", "warning"],
    ["a name that cannot be resolved", { kind: "unknown-name", reason: "x" }, "failure"],
    ["a closed port", { kind: "unreachable", reason: "x" }, "failure"],
    ["a certificate that cannot be trusted", { kind: "untrusted", reason: "x" }, "failure"],
    ["silence", { kind: "silent", reason: "5 ms" }, "failure"],
    ["something other than HTTP", { kind: "broken", reason: "x" }, "failure"],
    ["a pause", { kind: "paused", pauseMs: 9 }, "skipped"],
    ["a store that cannot be read", { kind: "not-called" }, "skipped"],
    [
      "a refused application key",
      { kind: "global-key-refused", failure: { code: 2003, message: "No.", isRateLimit: false } },
      "failure",
    ],
  ])("%s", (_, facts, result) => {
    expect(resultsOf(judgeGameApi(facts, "https://api.example"))).toEqual([result]);
  });

  test("no finding that is ok names a status such as 404", () => {
    const findings = [200, 401, 403, 404].flatMap((status) => judgeGameApi(answered(status), "https://a.example"));
    expect(findings.map(({ result, finding }) => [result, /\b[1-5]\d\d\b/.test(finding)])).toEqual(
      Array.from({ length: 4 }, () => ["ok", false]),
    );
  });

  test.each<[string, string, AnswerShape]>([
    ['{"code":0,"message":"Not Found"}', "application/json", "json"],
    ["{}", "", "json"],
    ["[]", "application/json", "other"],
    ['"ok"', "application/json", "other"],
    ["404 page not found", "text/plain", "other"],
    ["", "", "other"],
    ["<!DOCTYPE html><title>x</title>", "", "page"],
    ["{}", "text/html; charset=utf-8", "page"],
  ])("%p as %p has the shape %p", (text, contentType, shape) => {
    expect(findShape(text, contentType)).toBe(shape);
  });
});

describe("server keys", () => {
  const servers = Array.from({ length: 20 }, (_, index) => ({
    serverId: `srv_${index}`,
    name: `Town ${index}`,
    serverKey: `canary-${index}`,
  }));
  const hint = (remaining: number | null) => ({ limit: 35, remaining, resetAt: null, retryAfterMs: null });
  const refusal = (code: number): UpstreamReading => {
    return { hint: hint(30), failure: { code, message: "No.", isRateLimit: code === 4001 } };
  };
  const accepted = (remaining: number | null): UpstreamReading => {
    return {
      hint: hint(remaining),
      parts: { base: "{", sections: [], misfits: 0 },
      content: { settings: {}, sections: {} },
    };
  };

  async function runTest(answer: (call: number) => UpstreamReading) {
    let calls = 0;
    const upstream = { readServer: async () => answer(calls++) };
    const results = await testServerKeys(upstream, servers, async () => {});
    return { calls, findings: judgeServerKeys({ kind: "tested", total: servers.length, results }) };
  }

  test("no more than ten are tested", async () => {
    const { calls, findings } = await runTest(() => accepted(null));
    expect(calls).toBe(SERVERS_TESTED_MAX);
    expect(resultsOf(findings)).toEqual(["ok"]);
    expect(findings[0]?.finding).toContain("10 of 20");
  });

  test("a refused key is a failure that names the server and never the key", async () => {
    const { findings } = await runTest((call) => (call === 1 ? refusal(2002) : accepted(30)));
    expect(resultsOf(findings)).toEqual(["failure", "ok"]);
    expect(findings[0]?.finding).toContain("Town 1 (srv_1)");
    expect(JSON.stringify(findings)).not.toContain("canary");
  });

  test("a server without players has a key that works", async () => {
    expect(resultsOf((await runTest(() => refusal(3002))).findings)).toEqual(["ok"]);
  });

  test.each([
    ["a limit", refusal(4001), ["warning"]],
    ["a refused application key", refusal(2003), ["failure"]],
    ["few calls left", accepted(5), ["ok"]],
  ])("%s ends the test", async (_, answer, results) => {
    const { calls, findings } = await runTest(() => answer);
    expect(calls).toBe(1);
    expect(resultsOf(findings)).toEqual(results);
  });

  const failure = { code: 2002, message: "No.", isRateLimit: false };
  const refusedKeys = ["srv_1", "srv_12"].map((serverId) => ({ serverId, keyRevision: 1, failure }));

  test("a key that was refused before is a failure that costs no call", async () => {
    const { known, untested } = applyRefusedKeys(servers, refusedKeys);
    const asked: string[] = [];
    const readServer = async (key: string) => {
      asked.push(key);
      return accepted(30);
    };
    const results = [...known, ...(await testServerKeys({ readServer }, untested, async () => {}))];
    const findings = judgeServerKeys({ kind: "tested", total: servers.length, results });
    expect(resultsOf(findings)).toEqual(["failure", "failure", "ok"]);
    expect(findings[1]?.finding).toContain("Town 12 (srv_12), so it was not tested again: No. (2002)");
    expect(findings[2]?.finding).toContain("10 of 20");
    expect(asked).toHaveLength(SERVERS_TESTED_MAX);
    expect(asked).not.toContain("canary-1");
    expect(JSON.stringify(findings)).not.toContain("canary");
  });

  test("during a pause or a limit, the keys that were refused before are told, and why the others are not tested", () => {
    const { known } = applyRefusedKeys(servers, refusedKeys);
    const paused = judgeServerKeys({ kind: "paused", pauseMs: 249_001, known });
    expect(resultsOf(paused)).toEqual(["failure", "failure", "skipped"]);
    expect(paused[2]?.finding).toContain("for 4m 10s more");
    expect(resultsOf(judgeServerKeys({ kind: "limited", known: [] }))).toEqual(["skipped"]);
  });

  test("without --ask-keys nothing is tested, and the finding says so", () => {
    for (const kind of ["simulator", "no-store", "not-tested", "global-key-refused"] as const) {
      expect(resultsOf(judgeServerKeys({ kind }))).toEqual(["skipped"]);
    }
  });
});

describe("instance", () => {
  const url = "http://127.0.0.1:8080";
  const tell = (message: string) => ({ message, remedy: "Do something." });
  const answer = { status: 200, notices: [], details: {} };

  test("ready is ok, notices are warnings, not ready is a failure, no instance is no fault", () => {
    expect(resultsOf(judgeInstance(answer, url))).toEqual(["ok"]);
    expect(resultsOf(judgeInstance({ ...answer, notices: ["a", "b"].map(tell) }, url))).toEqual(["warning", "warning"]);
    expect(resultsOf(judgeInstance({ ...answer, status: 503 }, url))).toEqual(["failure"]);
    expect(judgeInstance({ ...answer, status: 503, notices: [tell("a")] }, url).at(-1)).toMatchObject({
      finding: `The instance at ${url} says: a`,
      remedy: "Do something.",
    });
    expect(resultsOf(judgeInstance({ error: "ECONNREFUSED" }, url))).toEqual(["warning"]);
    expect(resultsOf(judgeInstance(undefined, url))).toEqual(["skipped"]);
  });

  test("an instance that listens on all addresses is called on the loopback address", () => {
    const tls = { certPath: "", keyPath: "" };
    expect(findInstanceUrl({ dataDir: "/nonexistent", host: "0.0.0.0", port: 80, tls: undefined })).toBe(
      "http://127.0.0.1:80",
    );
    expect(findInstanceUrl({ dataDir: "/nonexistent", host: "::", port: 443, tls })).toBe("https://[::1]:443");
    expect(findInstanceUrl({ dataDir: "/nonexistent", host: "gate.test", port: 1, tls })).toBe("https://gate.test:1");
  });
});

describe("disk", () => {
  test.each([
    [2 * GIB, 10 * GIB, "ok"],
    [GIB, 20 * GIB, "ok"],
    [GIB - 1, 2 * GIB, "warning"],
    [4 * GIB, 100 * GIB, "warning"],
    [100 * MIB, GIB, "warning"],
    [100 * MIB - 1, GIB, "failure"],
    [0, 0, "failure"],
  ])("%p bytes of %p: %s", (freeBytes, totalBytes, result) => {
    expect(resultsOf(judgeDisk({ freeBytes, totalBytes }))).toEqual([result]);
  });
});

describe("open files", () => {
  test.each([
    [4_096, "ok"],
    [4_095, "warning"],
    [Number.POSITIVE_INFINITY, "ok"],
    [undefined, "skipped"],
  ])("%p: %s", (limit, result) => {
    expect(resultsOf(judgeOpenFileLimit(limit))).toEqual([result]);
  });

  test("the soft limit is the one in force", () => {
    const limits = "Limit   Soft Limit  Hard Limit  Units\nMax open files            1024      524288     files\n";
    expect(parseOpenFileLimit(limits)).toBe(1_024);
    expect(parseOpenFileLimit("Max open files   unlimited  unlimited files")).toBe(Number.POSITIVE_INFINITY);
    expect(parseOpenFileLimit("")).toBeUndefined();
  });
});

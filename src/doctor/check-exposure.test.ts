import { describe, expect, test } from "bun:test";
import { type ExposureFacts, judgeExposure } from "./check-exposure.ts";

const SAFE: ExposureFacts = {
  envFile: { path: "/srv/.env", mode: 0o600, secrets: ["GATEHOUSE_MASTER_KEY"] },
  acceptsAllCertificates: false,
  upstreamUrl: "https://api.example",
  host: "127.0.0.1",
  adminHost: undefined,
  hasTls: false,
  trustsProxy: false,
};

function resultsWith(facts: Partial<ExposureFacts>): string[] {
  return judgeExposure({ ...SAFE, ...facts }).map(({ result }) => result);
}

test("nothing is open", () => {
  expect(resultsWith({})).toEqual(["ok"]);
  expect(resultsWith({ envFile: undefined, upstreamUrl: undefined })).toEqual(["ok"]);
});

describe(".env", () => {
  test.each([
    [0o600, ["GATEHOUSE_SECRET"], "ok"],
    [0o400, ["GATEHOUSE_SECRET"], "ok"],
    [0o640, ["GATEHOUSE_SECRET"], "failure"],
    [0o644, ["GATEHOUSE_SECRET"], "failure"],
    [0o644, [], "warning"],
    [0o620, [], "failure"],
    [0o602, [], "failure"],
  ])("with mode %o and the secrets %j: %s", (mode, secrets, result) => {
    expect(resultsWith({ envFile: { path: "/srv/.env", mode, secrets } })).toEqual([result]);
  });

  test("the finding names the secrets, and the remedy can be copied", () => {
    const envFile = { path: "/srv/.env", mode: 0o644, secrets: ["GATEHOUSE_SECRET", "GATEHOUSE_STORE"] };
    const [finding] = judgeExposure({ ...SAFE, envFile });
    expect(finding?.finding).toContain("GATEHOUSE_SECRET, GATEHOUSE_STORE");
    expect(finding?.remedy).toContain("chmod 600 /srv/.env");
  });
});

test("certificates that are not checked are a failure", () => {
  expect(resultsWith({ acceptsAllCertificates: true })).toEqual(["failure"]);
});

test.each([
  ["http://api.example", "warning"],
  ["http://10.0.0.5:9000", "warning"],
  ["http://127.0.0.1:9000", "ok"],
  ["http://localhost:9000", "ok"],
  ["http://[::1]:9000", "ok"],
  ["http://127.example", "warning"],
])("a game API at %s: %s", (upstreamUrl, result) => {
  expect(resultsWith({ upstreamUrl })).toEqual([result]);
});

test.each([
  [{ host: "0.0.0.0" }, "warning"],
  [{ host: "::" }, "warning"],
  [{ host: "gate.example" }, "warning"],
  [{ host: "::1" }, "ok"],
  [{ host: "0.0.0.0", hasTls: true }, "ok"],
  [{ host: "0.0.0.0", trustsProxy: true }, "ok"],
  [{ adminHost: "127.0.0.1" }, "ok"],
  [{ adminHost: "0.0.0.0" }, "warning"],
  [{ adminHost: "0.0.0.0", trustsProxy: true }, "warning"],
  [{ adminHost: "0.0.0.0", hasTls: true }, "ok"],
])("listening with %j: %s", (facts, result) => {
  expect(resultsWith(facts)).toEqual([result]);
});

import { describe, expect, test } from "bun:test";
import { ERRORS, type Refusal } from "../../core/errors.ts";
import { MISSING_TOKEN } from "./authenticate.ts";
import { fingerprintOf, GUESSING_ADDRESSES_MAX, GuessLimit, OperatorCheck } from "./authenticate-operator.ts";

const NOW = 1_800_000_000_000;
const MASTER = "master-key-master-key-master-key-1";
const METRICS = "metrics-token";

function wrongKey(): Refusal {
  const refusal = new OperatorCheck([MASTER]).check("Bearer wrong");
  if (!refusal) throw new Error("a wrong key was let in");
  return refusal;
}

describe("the operator's secrets", () => {
  test("each of them is accepted, and nothing else; an undefined one accepts no key", () => {
    const secrets = new OperatorCheck([MASTER, METRICS, undefined]);
    expect(secrets.check(`Bearer ${MASTER}`)).toBeUndefined();
    expect(secrets.check(`Bearer ${METRICS}`)).toBeUndefined();
    for (const header of ["Bearer undefined", `Bearer ${MASTER}${METRICS}`, `Bearer ${MASTER},${MASTER}`]) {
      expect(secrets.check(header)?.refused).toBe(ERRORS.invalidMasterKey);
    }
    expect(new OperatorCheck([undefined]).check(`Bearer ${MASTER}`)?.refused).toBe(ERRORS.invalidMasterKey);
  });

  test("no header, another scheme and an empty token are a missing key, not a wrong one", () => {
    const secrets = new OperatorCheck([MASTER]);
    for (const header of [null, "", "Bearer", "Bearer  ", `Basic ${MASTER}`]) {
      expect(secrets.check(header)?.refused).toBe(ERRORS.missingToken);
    }
  });

  test("a fingerprint differs between keys, is always the same for one key, and contains no part of it", () => {
    expect(fingerprintOf(MASTER)).toMatch(/^[0-9a-f]{8}$/);
    expect(fingerprintOf(MASTER)).toBe(fingerprintOf(MASTER));
    expect(fingerprintOf(MASTER)).not.toBe(fingerprintOf(`${MASTER}x`));
    expect(MASTER).not.toContain(fingerprintOf(MASTER));
  });
});

describe("addresses that guess", () => {
  test("are counted separately, and a missing key is not counted", () => {
    const limit = new GuessLimit();
    const judge = (address: string, refusal = wrongKey()) => limit.judge(refusal, address, NOW).refused;
    for (let i = 0; i < 100; i++) expect(judge("a", MISSING_TOKEN)).toBe(ERRORS.missingToken);
    expect(limit.size).toBe(0);
    for (let i = 0; i < 10; i++) expect(judge("a")).toBe(ERRORS.invalidMasterKey);
    expect(judge("a")).toBe(ERRORS.tooManyAttempts);
    expect(judge("a", MISSING_TOKEN)).toBe(ERRORS.missingToken);
    expect(judge("b")).toBe(ERRORS.invalidMasterKey);
  });

  test("never exceed the maximum; the one that was added first is dropped", () => {
    const limit = new GuessLimit();
    const judge = (address: string) => limit.judge(wrongKey(), address, NOW).refused;
    for (let i = 0; i < 10; i++) judge("first");
    for (let i = 0; i < 10; i++) judge("second");
    for (let i = 2; i < GUESSING_ADDRESSES_MAX; i++) judge(`address ${i}`);
    expect(limit.size).toBe(GUESSING_ADDRESSES_MAX);
    judge("one more");
    expect(limit.size).toBe(GUESSING_ADDRESSES_MAX);
    expect(judge("second")).toBe(ERRORS.tooManyAttempts);
    expect(judge("first")).toBe(ERRORS.invalidMasterKey);
    for (let i = 0; i < 500; i++) judge(`later ${i}`);
    expect(limit.size).toBeLessThanOrEqual(GUESSING_ADDRESSES_MAX);
  });
});

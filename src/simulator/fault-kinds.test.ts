// Fault requests are parsed, or refused with the name of the invalid field; armed faults apply to the calls they are meant for.
import { describe, expect, test } from "bun:test";
import { FAULT_KINDS, FAULTS_MAX, FaultList, type FaultRequest, parseFault } from "./fault-kinds.ts";

function requestOf(json: unknown): FaultRequest {
  const parsed = parseFault(json);
  if (!("request" in parsed)) throw new Error(`${parsed.field} ${parsed.problem}`);
  return parsed.request;
}

describe("parsing", () => {
  test("every documented kind exists", () => {
    const kinds =
      "code refused slow hang reset truncated drip not-json html-502 huge redirect rate-limit odd-shapes " +
      "burst same-second forget-logs partial-logs reorder-logs";
    expect<string[]>(FAULT_KINDS).toEqual(kinds.split(" "));
  });

  test("every kind but code can be armed by its name alone", () => {
    for (const kind of FAULT_KINDS) expect("request" in parseFault({ kind })).toBe(kind !== "code");
  });

  test.each([
    [null, "body"],
    [[], "body"],
    [{}, "kind"],
    [{ kind: "earthquake" }, "kind"],
    [{ kind: "toString" }, "kind"],
    [{ kind: "code" }, "code"],
    [{ kind: "code", code: "1001" }, "code"],
    [{ kind: "code", code: 1001, status: 99 }, "status"],
    [{ kind: "code", code: 1001, form: "poem" }, "form"],
    [{ kind: "slow", ms: -1 }, "ms"],
    [{ kind: "slow", ms: 1.5 }, "ms"],
    [{ kind: "slow", milliseconds: 5 }, "milliseconds"],
    [{ kind: "hang", times: 0 }, "times"],
    [{ kind: "hang", seconds: "5" }, "seconds"],
    [{ kind: "hang", target: "everything" }, "target"],
    [{ kind: "hang", server: 7 }, "server"],
    [{ kind: "refused", server: "x" }, "server"],
    [{ kind: "redirect", to: "http://a\r\nX: y" }, "to"],
    [{ kind: "rate-limit", headers: "no" }, "headers"],
    [{ kind: "burst", list: "Players" }, "list"],
    [{ kind: "burst", count: 0 }, "count"],
    [{ kind: "same-second", count: 100_001 }, "count"],
    [{ kind: "partial-logs", keep: -1 }, "keep"],
    [{ kind: "forget-logs", list: "KillLogs" }, "list"],
  ])("%j is refused and the invalid field is %s", (json, field) => {
    expect(parseFault(json)).toMatchObject({ field });
  });
});

describe("armed faults", () => {
  const READ = { kind: "read", server: "town" } as const;
  const COMMAND = { kind: "command", server: "town" } as const;

  test("end after `times` calls, after `seconds`, or when cleared", () => {
    const faults = new FaultList();
    faults.arm(requestOf({ kind: "hang", times: 2 }), 0);
    expect([1, 2, 3].map(() => faults.take(READ, 0)?.kind)).toEqual(["hang", "hang", undefined]);
    faults.arm(requestOf({ kind: "reset", seconds: 3 }), 0);
    expect([faults.take(READ, 2999)?.kind, faults.take(READ, 3000)]).toEqual(["reset", undefined]);
    faults.arm(requestOf({ kind: "drip" }), 3000);
    expect(faults.take(READ, 9e12)?.kind).toBe("drip");
    faults.clear();
    expect(faults.take(READ, 9e12)).toBeUndefined();
  });

  test("apply only to the calls and the server they are meant for", () => {
    const faults = new FaultList();
    faults.arm(requestOf({ kind: "hang", target: "commands" }), 0);
    faults.arm(requestOf({ kind: "reset", server: "other" }), 0);
    expect(faults.take(READ, 0)).toBeUndefined();
    expect(faults.take(COMMAND, 0)?.kind).toBe("hang");
    expect(faults.take({ kind: "read", server: "other" }, 0)?.kind).toBe("reset");
  });

  test("apply in the order in which they were armed, and no more than FAULTS_MAX can be armed", () => {
    const faults = new FaultList();
    faults.arm(requestOf({ kind: "hang", times: 1 }), 0);
    faults.arm(requestOf({ kind: "reset", times: 1 }), 0);
    expect([faults.take(READ, 0)?.kind, faults.take(READ, 0)?.kind]).toEqual(["hang", "reset"]);
    for (let i = 0; i < FAULTS_MAX; i++) expect(faults.arm(requestOf({ kind: "hang" }), 0)).toBeDefined();
    expect(faults.arm(requestOf({ kind: "hang" }), 0)).toBeUndefined();
  });
});

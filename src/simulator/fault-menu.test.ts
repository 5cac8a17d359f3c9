// Orders for faults are understood or refused with the name of the wrong field; armed faults meet the calls they are for.
import { describe, expect, test } from "bun:test";
import { ARMED_MAX, ArmedFaults } from "./armed-faults.ts";
import { FAULT_KINDS, type FaultOrder, parseFault } from "./fault-menu.ts";

function orderOf(wish: unknown): FaultOrder {
  const parsed = parseFault(wish);
  if (!("order" in parsed)) throw new Error(`${parsed.field} ${parsed.problem}`);
  return parsed.order;
}

describe("orders", () => {
  test("the menu has every kind that is documented", () => {
    const kinds =
      "code refused slow hang reset truncated drip not-json html-502 huge redirect rate-limit odd-shapes".split(
        " ",
      );
    expect<string[]>(FAULT_KINDS).toEqual(kinds);
  });

  test("every kind but code can be armed by its name alone", () => {
    for (const kind of FAULT_KINDS) expect("order" in parseFault({ kind })).toBe(kind !== "code");
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
  ])("%j is refused and the wrong field is %s", (wish, field) => {
    expect(parseFault(wish)).toMatchObject({ field });
  });
});

describe("armed faults", () => {
  const READ = { kind: "read", server: "town" } as const;
  const COMMAND = { kind: "command", server: "town" } as const;

  test("end after so many calls, after so long, or when cleared", () => {
    const faults = new ArmedFaults();
    faults.arm(orderOf({ kind: "hang", times: 2 }), 0);
    expect([1, 2, 3].map(() => faults.meet(READ, 0)?.kind)).toEqual(["hang", "hang", undefined]);
    faults.arm(orderOf({ kind: "reset", seconds: 3 }), 0);
    expect([faults.meet(READ, 2999)?.kind, faults.meet(READ, 3000)]).toEqual(["reset", undefined]);
    faults.arm(orderOf({ kind: "drip" }), 3000);
    expect(faults.meet(READ, 9e12)?.kind).toBe("drip");
    faults.clear();
    expect(faults.meet(READ, 9e12)).toBeUndefined();
  });

  test("meet only the calls and the server they are meant for", () => {
    const faults = new ArmedFaults();
    faults.arm(orderOf({ kind: "hang", target: "commands" }), 0);
    faults.arm(orderOf({ kind: "reset", server: "other" }), 0);
    expect(faults.meet(READ, 0)).toBeUndefined();
    expect(faults.meet(COMMAND, 0)?.kind).toBe("hang");
    expect(faults.meet({ kind: "read", server: "other" }, 0)?.kind).toBe("reset");
  });

  test("are met in the order in which they were armed, and no more than the ceiling are kept", () => {
    const faults = new ArmedFaults();
    faults.arm(orderOf({ kind: "hang", times: 1 }), 0);
    faults.arm(orderOf({ kind: "reset", times: 1 }), 0);
    expect([faults.meet(READ, 0)?.kind, faults.meet(READ, 0)?.kind]).toEqual(["hang", "reset"]);
    for (let i = 0; i < ARMED_MAX; i++) expect(faults.arm(orderOf({ kind: "hang" }), 0)).toBeDefined();
    expect(faults.arm(orderOf({ kind: "hang" }), 0)).toBeUndefined();
  });
});

import { expect, test } from "bun:test";
import { describeFault, findFaultWords } from "./system-faults.ts";

const failWith = (code: string) => Object.assign(new Error(`${code}: the runtime's words`), { code });

test.each([
  ["ECONNREFUSED", "the connection was refused"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is self-signed"],
  ["ENOTFOUND", "its name cannot be resolved"],
])("%s is described in our words", (code, words) => {
  expect(describeFault(failWith(code))).toBe(words);
});

test("a fault is found in the cause, and among the addresses that were tried", () => {
  expect(findFaultWords(new Error("no", { cause: failWith("ECONNRESET") }))).toBe("the connection was cut");
  expect(findFaultWords(new AggregateError([failWith("ECONNREFUSED")]))).toBe("the connection was refused");
});

test("an unknown fault is named by its code, never by the runtime's sentence", () => {
  expect(describeFault(failWith("EODD"))).toBe("the reason is not known: EODD");
  expect(describeFault(new Error("Unable to connect."))).toBe("the reason is not known");
  expect(findFaultWords(new Error("NOAUTH Authentication required."))).toBeUndefined();
});

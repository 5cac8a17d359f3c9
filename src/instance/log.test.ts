// The filter of the log: no secret is written, however short, and the rest of a line stays readable.
import { expect, test } from "bun:test";
import { createLog } from "./log.ts";

function logWith(secrets: readonly string[], fields: object, message: string): string {
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", secrets, write: (line) => lines.push(line) });
  log.info(fields, message);
  return lines.join("");
}

test.each(["abc", "x1", "p@ss", "7", '"', "\\"])("a short secret is not written: %s", (secret) => {
  const fields = { url: `redis://:${secret}@redis:6379`, err: new Error(`wrong ${secret}`), list: [secret] };
  const line = logWith([secret], fields, `it is ${secret}, really`);
  const written = JSON.parse(line) as Record<string, unknown> & { err: { message: string } };
  expect(written.msg).toBe("it is [redacted], really");
  expect(written.url).toBe("redis://:[redacted]@redis:6379");
  expect(written.list).toEqual(["[redacted]"]);
  expect(written.err.message).toBe("wrong [redacted]");
});

test("a short secret that is part of a word leaves the word alone", () => {
  expect(JSON.parse(logWith(["a"], { name: "banana" }, "started all"))).toMatchObject({
    name: "banana",
    msg: "started all",
  });
});

test.each(["msg", "level", "time", "30", ":"])("a short secret cannot damage the line: %s", (secret) => {
  const line = logWith([secret], { port: 30 }, "started");
  expect(line).toEndWith("}\n");
  expect(JSON.parse(line)).toMatchObject({ level: 30, port: 30, msg: "started" });
  expect(JSON.parse(line).time).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test("a long secret is not written, not even inside a word or in the form that JSON escapes", () => {
  const secret = 'a "long" secret';
  const line = logWith([secret], { text: `x${secret}y` }, secret);
  expect(JSON.parse(line)).toMatchObject({ text: "x[redacted]y", msg: "[redacted]" });
});

test("a secret that begins with another one leaves nothing of itself", () => {
  const line = logWith(["12345678", "12345678-and-more"], {}, "12345678-and-more");
  expect(JSON.parse(line)).toMatchObject({ msg: "[redacted]" });
});

import { expect, test } from "bun:test";
import { Call, type Connection, IDLE_SECONDS } from "./call.ts";
import { Target } from "./requests/target.ts";

test("while a caller waits for us, its socket may be idle for that long; 0 where the runtime cannot count so far", () => {
  const set: number[] = [];
  const connection = { timeout: (_: Request, seconds: number) => set.push(seconds) } as unknown as Connection;
  const call = new Call(new Request("http://h/"), new Target(undefined, "/", ""), connection, () => 0);
  for (const ms of [1, 22_001, 255_000, 255_001]) call.extendIdleTimeout(ms);
  expect(set).toEqual([IDLE_SECONDS, 23, 255, 0]);
});

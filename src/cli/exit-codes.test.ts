import { expect, test } from "bun:test";
import { type ExitCode, toExitCode } from "./exit-codes.ts";

test.each<[number, ExitCode]>([
  [5104, 2],
  [5034, 2],
  [5005, 2],
  [5020, 3],
  [5006, 4],
  [5007, 4],
  [5107, 4],
  [5106, 5],
  [5017, 1],
  [5101, 1],
  [0, 1],
])("error %p of the admin API becomes exit code %p", (errorCode, exitCode) => {
  expect(toExitCode(errorCode)).toBe(exitCode);
});

// What packages/client knows of the server by value, not by type: final statuses, messages of a stream, error codes.
import { expect, test } from "bun:test";
import { FINAL_STATUSES } from "../packages/client/src/commands.ts";
import { CONTROL_MESSAGES } from "../packages/client/src/event-stream.ts";
import { findLimitWait, isInFlight, isOutage, toGatehouseError } from "../packages/client/src/gatehouse-error.ts";
import { SseParser } from "../packages/client/src/sse-parser.ts";
import { COMMAND_STATUSES } from "../src/core/commands/command.ts";
import { ERRORS } from "../src/core/errors.ts";
import { EVENT_TYPES } from "../src/core/events/event-types.ts";
import { writeBye, writeEventFrame, writeHeartbeat, writeHello } from "../src/core/events/stream-frames.ts";
import type { ErrorName } from "../src/core/wire/error.ts";

test("the client takes every status for final but queued and sending", () => {
  const waiting = COMMAND_STATUSES.filter((status) => !FINAL_STATUSES.has(status));
  expect(waiting).toEqual(["queued", "sending"]);
});

test("the client tells the messages of a stream from its events", () => {
  const parser = new SseParser();
  const frames = [
    writeHello("sse", "c1", 0),
    writeHeartbeat("sse", "c2"),
    writeBye("sse", "c3", { reason: "restart" }),
    ...EVENT_TYPES.map((type) => writeEventFrame("sse", "c4", type, "{}")),
  ];
  const messages = frames.flatMap((frame) => parser.push(frame));
  expect(messages).toHaveLength(frames.length);
  const events = messages.filter(({ event }) => !CONTROL_MESSAGES.has(event));
  expect(events.map(({ event }) => event)).toEqual([...EVENT_TYPES]);
});

test("the client tries again, waits and gives up by the server's own codes", () => {
  const tell = (name: ErrorName) => {
    const { code, status } = ERRORS[name];
    return toGatehouseError(status, new Headers(), { code, retry_after: 5 });
  };
  const names = Object.keys(ERRORS) as ErrorName[];
  expect(names.filter((name) => isInFlight(tell(name)))).toEqual(["idempotencyInFlight"]);
  const limited = names.filter((name) => ERRORS[name].status === 429);
  expect(limited.filter((name) => findLimitWait(tell(name)) === undefined)).toEqual(["spamBlocked"]);
  const broken = names.filter((name) => ERRORS[name].status >= 500);
  expect(broken.filter((name) => !isOutage(tell(name)))).toEqual(["obsolete", "notConfigured"]);
});

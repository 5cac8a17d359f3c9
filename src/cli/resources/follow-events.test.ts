// Following a stream over its ends: each event is shown once, and only what can pass is waited for.
import { expect, test } from "bun:test";
import { GatehouseError } from "../../../packages/client/src/gatehouse-error.ts";
import type { SseMessage } from "../../../packages/client/src/sse-parser.ts";
import { ERRORS } from "../../core/errors.ts";
import type { EventResource } from "../../core/wire/event.ts";
import { CommandFailed, EXIT_CODES } from "../exit-codes.ts";
import { BACKOFF_MS, followEvents } from "./events.ts";

const eventMessage = (id: number): SseMessage => ({
  id: String(id),
  event: "player.joined",
  data: JSON.stringify({ id: String(id) }),
});
const say = (event: string, id: number | "", data: object = {}): SseMessage => ({
  id: String(id),
  event,
  data: JSON.stringify(data),
});
const TOO_MANY = new GatehouseError("too many", { code: ERRORS.tooManyStreams.code, status: 429 });
const AWAY = new CommandFailed("away", EXIT_CODES.unavailable);

/** Each connection is a list of messages, and perhaps the error that ends it. After the last one it is interrupted. */
async function follow(...connections: (SseMessage | Error)[][]) {
  const interrupted = new AbortController();
  const asked: string[] = [];
  const shown: string[] = [];
  const pauses: number[] = [];
  let outages = 0;
  const following = followEvents(
    {
      async *open(after) {
        asked.push(after);
        for (const each of connections.shift() ?? []) {
          if (each instanceof Error) throw each;
          yield each;
        }
        if (connections.length === 0) interrupted.abort();
      },
      parse: (text) => JSON.parse(text) as EventResource,
      show: ({ id }) => void shown.push(id),
      pause: async (ms) => void pauses.push(ms),
      onOutage: () => outages++,
    },
    "0",
    interrupted.signal,
  );
  const failure = await following.then(
    () => undefined,
    (error) => error,
  );
  return { asked, shown, pauses, outages, failure };
}

test("a stream that ends or breaks is opened again after the last event that was shown", async () => {
  const { asked, shown, failure } = await follow(
    [say("hello", 0), eventMessage(1), eventMessage(2), say("bye", 2, { reason: "restart" })],
    [AWAY],
    [say("hello", 2), eventMessage(3), AWAY],
    [say("hello", 3), eventMessage(4)],
  );
  expect(failure).toBeUndefined();
  expect(shown).toEqual(["1", "2", "3", "4"]);
  expect(asked).toEqual(["0", "2", "2", "3"]);
});

test("a heartbeat moves the place past what the filter left out, and an end without a place keeps it", async () => {
  const { asked } = await follow([say("hello", 0), say("heartbeat", 7), say("bye", "", { reason: "slow" })], []);
  expect(asked).toEqual(["0", "7"]);
});

test("waits longer after each failure in a row, says so once, and begins anew after a success", async () => {
  const { pauses, outages } = await follow(...Array.from({ length: 7 }, () => [AWAY]), [say("hello", 0), AWAY], []);
  const last = BACKOFF_MS.at(-1) ?? 0;
  expect(pauses.slice(0, 7)).toEqual([...BACKOFF_MS, last, last]);
  expect(pauses[7]).toBe(BACKOFF_MS[0] ?? 0);
  expect(outages).toBe(2);
});

test("too many streams are waited for", async () => {
  const refused = new CommandFailed("too many", EXIT_CODES.failed, TOO_MANY);
  expect((await follow([refused], [eventMessage(1)])).shown).toEqual(["1"]);
});

test("a server that is deleted and a refusal that stays end it", async () => {
  const { failure } = await follow([say("hello", 0), say("bye", 0, { code: ERRORS.notFound.code })], [eventMessage(1)]);
  expect(failure).toMatchObject({ exitCode: EXIT_CODES.notFound });
  const refused = new CommandFailed("wrong master key", EXIT_CODES.masterKey);
  expect((await follow([refused], [eventMessage(1)])).failure).toBe(refused);
});

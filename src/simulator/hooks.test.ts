// The webhooks of the simulator: signed, a probe first, and what they say is what a read shows.
import { expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { buildServerInfo } from "./build-server-info.ts";
import { HookKeys, HookSender } from "./hook-sender.ts";
import { chooseQuirks, type Quirks } from "./quirks.ts";
import type { HookEvent } from "./town.ts";
import { HOOK_EVENTS_MAX } from "./town-hooks.ts";
import { advanceTown, TownRegistry } from "./town-registry.ts";

const T0 = 1_800_000_000_000;
const PLAN = { seed: 1, playersWanted: 24, maxPlayers: 24, speed: 1, logWindow: 50 };

test("every call that begins after the first read is told once when it begins and once when it ends", () => {
  const quirks = chooseQuirks(false);
  const towns = new TownRegistry(PLAN);
  towns.collectHooks(quirks);
  const shown = new Map<number, unknown>();
  const before = new Set<number>();
  const told: HookEvent[] = [];
  for (let second = 0; second < 900; second++) {
    const town = towns.getCurrent("Town", T0 + second * 1000);
    const { EmergencyCalls } = buildServerInfo(town, ["EmergencyCalls"], quirks) as {
      EmergencyCalls: { CallNumber: number }[];
    };
    for (const call of EmergencyCalls) {
      if (second === 0) before.add(call.CallNumber);
      else if (!before.has(call.CallNumber) && !shown.has(call.CallNumber)) shown.set(call.CallNumber, call);
    }
    for (const { serverId, events } of towns.takeHooks(T0 + second * 1000)) {
      expect(serverId).toBe("Town");
      told.push(...events);
    }
  }
  const numbersOf = (kind: string) =>
    told.filter(({ event }) => event === kind).map(({ data }) => data.callNumber as number);
  const started = numbersOf("EmergencyCallStarted");
  expect(started.length).toBeGreaterThan(5);
  expect(started).toEqual([...shown.keys()]);
  const ended = numbersOf("EmergencyCallEnded");
  expect(new Set(ended).size).toBe(ended.length);
  expect(ended.length).toBeGreaterThan(0);
  const first = told.find(({ event }) => event === "EmergencyCallStarted");
  expect(first?.data).toMatchObject({ callNumber: started[0], team: expect.any(String) });
  expect(shown.get(started[0] ?? 0)).toMatchObject({
    Team: first?.data.team,
    StartedAt: first?.data.startedAt,
    Position: first?.data.position,
    PositionDescriptor: first?.data.positionDescriptor,
  });
  const commands = told.filter(({ event }) => event === "CustomCommand");
  expect(commands.length).toBeGreaterThan(5);
  for (const { origin } of commands) expect(origin).toMatch(/^[0-9]+$/);
});

test("a town is the same with and without webhooks, and what nobody takes is bounded", () => {
  const plain = new TownRegistry(PLAN).getCurrent("Town", T0);
  const towns = new TownRegistry(PLAN);
  towns.collectHooks(chooseQuirks(true));
  const telling = towns.getCurrent("Town", T0);
  for (let hour = 1; hour <= 48; hour++) {
    for (const town of [plain, telling]) advanceTown(town, T0 + hour * 900_000);
  }
  const sections = ["Players", "EmergencyCalls", "CommandLogs"] as const;
  const quirks = chooseQuirks(false);
  expect(buildServerInfo(telling, sections, quirks)).toEqual(buildServerInfo(plain, sections, quirks));
  expect(telling.hooks?.take()).toHaveLength(HOOK_EVENTS_MAX);
});

test("nothing but the probe is sent before it is answered, and every body is signed", async () => {
  const keys = new HookKeys();
  const key = createPublicKey({
    key: Buffer.from(keys.publicKey, "base64"),
    format: "der",
    type: "spki",
  });
  const sent: string[] = [];
  const answers: ((status: number) => void)[] = [];
  const arrived: (() => void)[] = [];
  const sender = new HookSender({
    post: (headers, body) => {
      const signed = Buffer.from((headers["X-Signature-Timestamp"] ?? "") + body);
      const signature = Buffer.from(headers["X-Signature-Ed25519"] ?? "", "hex");
      expect(verify(null, signed, key, signature)).toBe(true);
      sent.push(body);
      arrived.shift()?.();
      return new Promise((answer) => answers.push(answer));
    },
    keys,
    quirks: chooseQuirks(false),
    seed: 1,
    clock: () => T0,
  });
  const event = (n: number) => ({ event: "CustomCommand", timestamp: n, origin: "1", data: {} });
  sender.send("Town", [event(0)]);
  expect(sent).toEqual([
    '{"server":"global","events":[{"event":"WebhookProbe","timestamp":1800000000,"origin":"global","data":{}}]}',
  ]);
  answers.shift()?.(204);
  await new Promise((turn) => setImmediate(turn));
  const next = new Promise<void>((come) => arrived.push(come, come));
  sender.send(
    "Town",
    Array.from({ length: 21 }, (_, n) => event(n)),
  );
  await next;
  answers.shift()?.(500);
  await new Promise((turn) => setImmediate(turn));
  // A refusal is not sent again, and the rest follows.
  const bodies = sent.slice(1).map((body) => (JSON.parse(body) as { events: unknown[] }).events.length);
  expect(bodies).toEqual([20, 1]);
  sender.stop();
});

/** The numbers of the events in 60 bodies with one event each, in the order in which they are sent. */
async function sendNumbered(quirks: Quirks, seed = 1) {
  const posts: { headers: Readonly<Record<string, string>>; body: string }[] = [];
  const sender = new HookSender({
    post: async (headers, body) => {
      posts.push({ headers, body });
      return 204;
    },
    keys: new HookKeys(),
    quirks,
    seed,
    clock: () => T0 + posts.length * 1000,
  });
  for (let turn = 0; turn < 61; turn++) {
    if (turn > 0) sender.send("Town", [{ event: "CustomCommand", timestamp: turn, origin: "1", data: {} }]);
    await new Promise((settled) => setImmediate(settled));
  }
  sender.stop();
  const sent = posts.slice(1);
  const numbers = sent.map(({ body }) => {
    return (JSON.parse(body) as { events: HookEvent[] }).events[0]?.timestamp ?? 0;
  });
  return { sent, numbers };
}

const NUMBERS = Array.from({ length: 60 }, (_, index) => index + 1);
const bySize = (a: number, b: number) => a - b;

test("without quirks every body is sent once and in order", async () => {
  expect((await sendNumbered(chooseQuirks(false))).numbers).toEqual(NUMBERS);
});

test("webhookRepeated sends some bodies again, with the same headers", async () => {
  const { sent, numbers } = await sendNumbered(chooseQuirks({ webhookUnordered: false }));
  const repeated = sent.filter(({ body }, index) => body === sent[index - 1]?.body);
  expect(repeated.length).toBeWithin(1, 30);
  expect([...new Set(numbers)]).toEqual(NUMBERS);
  for (const { body, headers } of repeated) {
    expect(new Set(sent.filter((each) => each.body === body).map((each) => each.headers))).toEqual(new Set([headers]));
  }
});

test("webhookUnordered swaps some bodies with the next, and loses none but one that still waits", async () => {
  const { numbers } = await sendNumbered(chooseQuirks({ webhookRepeated: false }));
  const swapped = numbers.filter((number, index) => number < (numbers[index - 1] ?? 0));
  expect(swapped.length).toBeWithin(1, 30);
  const isSwapped = (number: number) => numbers[numbers.indexOf(number) - 1] === number + 1;
  expect(swapped.every(isSwapped)).toBe(true);
  expect(numbers.toSorted(bySize)).toEqual(NUMBERS.filter((number) => number < 60 || numbers.includes(60)));
});

test("which bodies a quirk affects follows from the seed", async () => {
  const send = async (seed: number) => (await sendNumbered(chooseQuirks(true), seed)).numbers;
  expect(await send(7)).toEqual(await send(7));
  expect(await send(7)).not.toEqual(await send(8));
});

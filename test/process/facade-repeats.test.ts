// Clients of the façade send a command again after every timeout, 429 and 5xx, as prc.api-py does. Over kills of the process and
// lost answers on both sides, the game gets no command twice.
import { afterEach, expect, test } from "bun:test";
import { facadeKeyOf } from "../../src/core/facade/facade-key.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { recordCommands } from "../command-judge.ts";
import { repeat } from "../long.ts";
import { createRandom } from "../random.ts";
import { type Home, makeHomes, Service } from "../runs/killed-service.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";

const CYCLES = repeat({ usual: 4, long: 200 });
const LIFE_MAX_MS = 350;
/** One answer in so many is lost between us and the client, and one command in so many between the game and us. */
const LOST_SHARE = 0.2;
const CLIENT_TIMEOUT_MS = 5_000;
/** Clients give up before the time in which the same text is the same command is over. */
const GIVE_UP_MS = 8_000;

afterEach(cleanUp);

type Sent = { readonly text: string; attempts: number; answer: number | undefined };

test(`over ${CYCLES} kills, the game gets no command twice from clients that send again`, async () => {
  const seed = Date.now() % 2 ** 31;
  const random = createRandom(seed);
  const simulator = await startSimulator({ readLimit: 0, commandIntervalMs: 0 });
  const record = recordCommands(simulator);
  const folder = makeFolder();
  const homes = await makeHomes(folder, simulator.url);
  const service = new Service(folder, simulator.url);
  const sent: Sent[] = [];
  let isOver = false;

  async function sendOnce(url: string, home: Home, text: string): Promise<number | undefined> {
    const isLost = random() < LOST_SHARE;
    const signal = AbortSignal.timeout(isLost ? Math.ceil(random() * 100) : CLIENT_TIMEOUT_MS);
    const headers = {
      "server-key": facadeKeyOf(home.tokens[0] ?? "", home.serverId),
      "Content-Type": "application/json",
    };
    const body = JSON.stringify({ command: text });
    const request = { method: "POST", headers, body, signal };
    const answer = await fetch(`${url}/v2/server/command`, request).catch(() => undefined);
    await answer?.text().catch(() => undefined);
    return answer?.status;
  }

  async function sendUntilAnswered(home: Home, text: string): Promise<void> {
    const one: Sent = { text, attempts: 0, answer: undefined };
    sent.push(one);
    const giveUpAt = Date.now() + GIVE_UP_MS;
    while (Date.now() < giveUpAt) {
      const url = await service.address();
      // The wait for a new process may have been long.
      if (url === undefined || Date.now() >= giveUpAt) return;
      one.attempts++;
      const status = await sendOnce(url, home, text);
      if (status !== undefined && status !== 429 && status < 500) {
        one.answer = status;
        return;
      }
      await Bun.sleep(5);
    }
  }

  async function sendAll(home: Home, client: string): Promise<void> {
    for (let count = 1; !isOver; count++) await sendUntilAnswered(home, `:h ${client} ${count}`);
  }

  try {
    const clients = homes.map((home, index) => sendAll(home, `c${index}`));
    for (let cycle = 1; cycle <= CYCLES; cycle++) {
      await simulator.clearFaults();
      const times = 1 + Math.floor(random() * 3);
      if (random() < 0.7) simulator.arm({ kind: "reset", acts: true, target: "commands", times });
      if (random() < 0.5) simulator.arm({ kind: "slow", ms: 25, target: "commands" });
      await service.live({ lifeMs: random() * LIFE_MAX_MS });
    }
    await simulator.clearFaults();
    await service.start();
    // On a slow machine a short life may have been too short for any command.
    await until("the game gets too few commands", () => record.countTexts() > CYCLES);
    await until("nothing was sent again", () => sent.some(({ attempts }) => attempts > 1));
    isOver = true;
    await Promise.all(clients);
    await until("the queues are not drained", () => service.isDrained(), 60_000);
  } finally {
    isOver = true;
    await service.stop();
    await simulator.stop();
  }

  const timesGot = new Map<string, number>();
  for (const { command } of record.stop()) timesGot.set(command, (timesGot.get(command) ?? 0) + 1);
  const twice = [...timesGot].filter(([, times]) => times > 1);
  expect({ seed, twice }).toEqual({ seed, twice: [] });
  const answers = new Set(sent.map(({ answer }) => answer));
  expect([...answers].filter((status) => ![200, 422, undefined].includes(status))).toEqual([]);
  const neverGot = sent.filter(({ answer, text }) => answer === 200 && !timesGot.has(text));
  expect({ seed, neverGot }).toEqual({ seed, neverGot: [] });
}, 900_000);

// What all contenders share: a simulated server with forty players whose time stands still, its sections as text, and tokens.
// The folder is deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mintToken } from "../src/core/keys/token.ts";
import type { ServerParts } from "../src/core/ports/upstream.ts";
import { SECTIONS } from "../src/core/sections.ts";
import { type Simulator, startSimulator } from "../src/simulator/simulator.ts";
import { UpstreamClient } from "../src/upstream/client.ts";
import { INVALID_TOKENS, READ_KEYS, REFUSAL_KEYS } from "./settings.ts";

export const PLAYERS = 40;
export const SECRET = "a secret for a benchmark, long enough";
const FROZEN_AT = 1_794_713_600_000;
const SEARCH_MINUTES = 24 * 60;

export type Stage = {
  readonly folder: string;
  readonly simulator: Simulator;
  /** First the tokens for reads, then those that are put over their limit. */
  readonly tokens: readonly string[];
  readonly tokensPath: string;
  readonly invalidPath: string;
  /** Creates a new folder inside the stage's folder. */
  makeFolder(name: string): string;
  close(): Promise<void>;
};

export async function openStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.on("exit", remove);
  let now = FROZEN_AT;
  const simulator = await startSimulator({
    seed: 1,
    players: PLAYERS,
    maxPlayers: PLAYERS,
    readLimit: 0,
    commandIntervalMs: 0,
    clock: () => now,
  });
  // Time stands still from the minute in which the server is full.
  let parts = await readParts(simulator.url);
  for (let minute = 0; countPlayers(parts) < PLAYERS && minute < SEARCH_MINUTES; minute++) {
    now += 60_000;
    parts = await readParts(simulator.url);
  }
  if (countPlayers(parts) !== PLAYERS) throw new Error(`the simulated server never had ${PLAYERS} players`);

  const tokens = Array.from({ length: READ_KEYS + REFUSAL_KEYS }, () => mintToken(randomBytes));
  const invalid = Array.from({ length: INVALID_TOKENS }, () => mintToken(randomBytes));
  mkdirSync(join(folder, "parts"));
  writeFileSync(join(folder, "parts", "base"), parts.base);
  for (const [index, name] of SECTIONS.entries())
    writeFileSync(join(folder, "parts", name), parts.sections[index] ?? "");
  return {
    folder,
    simulator,
    tokens,
    tokensPath: writeTokens(folder, "tokens.txt", tokens),
    invalidPath: writeTokens(folder, "invalid.txt", invalid),
    makeFolder: (name) => mkdtempSync(join(folder, `${name}-`)),
    async close() {
      await simulator.stop();
      remove();
      process.off("exit", remove);
    },
  };
}

export function writeTokens(folder: string, name: string, tokens: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, tokens.map((token) => `${token}\n`).join(""));
  return path;
}

async function readParts(baseUrl: string): Promise<ServerParts> {
  const upstream = new UpstreamClient({
    baseUrl,
    globalKey: undefined,
    timeoutMs: 5_000,
    keepsUnknown: false,
    clock: Date.now,
  });
  const reading = await upstream.readServer(serverKeyOf(0));
  if ("failure" in reading) throw new Error(`the simulator failed: ${reading.failure.message}`);
  return reading.parts;
}

function countPlayers(parts: ServerParts): number {
  return JSON.parse(parts.sections[SECTIONS.indexOf("Players")] ?? "[]").length;
}

/** The upstream key of the n-th server; each key is a simulated server of its own. */
export function serverKeyOf(index: number): string {
  return `bench-Town${index}`;
}

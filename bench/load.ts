// Sends requests as fast as they are answered, on a fixed number of connections: with wrk, or with autocannon without it.
import { join } from "node:path";
import { USES_WRK } from "./machine.ts";
import { readCpuMicros } from "./process-usage.ts";
import { runProgram } from "./processes.ts";

export type Load = {
  readonly url: string;
  readonly tokensPath: string;
  /** The first token of the file that is used, counted from 0. */
  readonly first: number;
  readonly count: number;
  /** How many requests were sent before, so that the next token in turn comes first; 0 by default. */
  readonly skip?: number;
  readonly etag?: string | undefined;
  readonly seconds: number;
  readonly connections: number;
};

export type LoadResult = {
  readonly perSecond: number;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers with a status of 400 and above. */
  readonly refused: number;
};

/** With the CPU time of the server for each request, which varies less on a busy machine. */
export type Measured = LoadResult & { readonly cpuMicros: number };

/** Throws when a connection broke: the numbers of a contender with broken connections mean nothing. */
export async function putLoad(load: Load, core: number | undefined): Promise<LoadResult> {
  const output = await runProgram(USES_WRK ? wrk(load) : autocannon(load), core);
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`the load printed no result for ${load.url}: ${output}`);
  const { broken, seconds, ...result } = JSON.parse(line);
  if (broken > 0) throw new Error(`${broken} requests to ${load.url} got no answer`);
  return { ...result, perSecond: result.requests / seconds };
}

export async function measureLoad(load: Load, core: number | undefined, pid: number): Promise<Measured> {
  const before = readCpuMicros(pid);
  const result = await putLoad(load, core);
  return { ...result, cpuMicros: (readCpuMicros(pid) - before) / result.requests };
}

function wrk({ url, tokensPath, first, count, skip = 0, etag = "-", seconds, connections }: Load): string[] {
  const script = join(import.meta.dir, "wrk.lua");
  const how = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "5s", "-s", script];
  return ["wrk", ...how, url, "--", tokensPath, String(first), String(count), String(skip), etag];
}

function autocannon({ url, tokensPath, first, count, skip = 0, etag = "-", seconds, connections }: Load): string[] {
  const script = join(import.meta.dir, "autocannon.mjs");
  const args = [url, seconds, connections, tokensPath, first, count, skip, etag].map(String);
  return ["node", script, ...args];
}

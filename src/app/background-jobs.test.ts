// The start does not wait for the deletion of old entries, and a stop during it is no failure.
import { expect, test } from "bun:test";
import { StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { parseConfig } from "../instance/config.ts";
import { startBackgroundJobs } from "./background-jobs.ts";
import { Closers } from "./closers.ts";
import type { Resources } from "./open-resources.ts";
import type { Gateway } from "./wire-gateway.ts";

/** Background jobs on a store whose tidying goes on until the test ends it. */
async function startJobs() {
  const begun = Promise.withResolvers<void>();
  const tidying = Promise.withResolvers<void>();
  const warnings: string[] = [];
  const log: Log = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} };
  const store = {
    servers: { find: () => undefined },
    tidy() {
      begun.resolve();
      return tidying.promise;
    },
  };
  const resources = { store, shared: undefined, clock: () => 0 } as unknown as Resources;
  const gateway = {
    relay: { forgetDeleted() {} },
    watcher: { start() {}, stop: async () => {} },
    forgetting: { start() {}, stop: async () => {} },
    usage: { stop: async () => {}, flush: async () => {} },
  } as unknown as Gateway;
  const closers = new Closers();
  await startBackgroundJobs(parseConfig({}), resources, gateway, log, closers);
  return { begun: begun.promise, tidying, warnings, close: () => closers.closeAll(log) };
}

test("the start does not wait until old entries are deleted, and the deletion begins by itself", async () => {
  const { begun, tidying, close } = await startJobs();
  await begun;
  tidying.resolve();
  await close();
});

test("a deletion that fails is logged, unless Gatehouse is stopping", async () => {
  for (const isStopping of [false, true]) {
    const { begun, tidying, warnings, close } = await startJobs();
    await begun;
    if (isStopping) await close();
    tidying.reject(new StoreUnavailable("gone"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toHaveLength(isStopping ? 0 : 1);
    await close();
  }
});

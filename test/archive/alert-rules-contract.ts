// What every archive promises about alert rules, whatever keeps it. Each keeper runs the same suite.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { type AlertRules, NO_ALERTS } from "../../src/core/alerts/rules.ts";
import type { Archive } from "../../src/core/ports/archive.ts";
import type { ArchiveHarness } from "./archive-contract.ts";
import { addEvents, kills, record } from "./ledger-samples.ts";

const RULES: AlertRules = {
  kills: { count: 5, seconds: 60 },
  mass_command: { patterns: [":ban all", "«\u0000»\ud800"] },
  players: { below: 1, minutes: 10 },
};

export function describeAlertRuleStore(name: string, createHarness: () => Promise<ArchiveHarness>): void {
  describe(`alert rules in ${name}`, () => {
    let harness: ArchiveHarness;
    let archive: Archive;

    beforeEach(async () => {
      await harness?.close();
      harness = await createHarness();
      archive = await harness.open();
    });
    afterAll(() => harness?.close());

    test("all are off at first; set, they are there for every instance and in the memory", async () => {
      expect(await archive.readAlertRules("srv_a")).toEqual(NO_ALERTS);
      await archive.setAlertRules("srv_a", RULES);
      archive = await harness.open();
      expect(await archive.readAlertRules("srv_a")).toEqual(RULES);
      expect((await archive.load("srv_a")).memory.alertRules).toEqual(RULES);
      expect(await archive.readAlertRules("srv_b")).toEqual(NO_ALERTS);
    });

    test("they are replaced as a whole, also by none", async () => {
      await archive.setAlertRules("srv_a", RULES);
      await archive.setAlertRules("srv_a", { offline: { minutes: 3 } });
      expect(await archive.readAlertRules("srv_a")).toEqual({ offline: { minutes: 3 } });
      await archive.setAlertRules("srv_a", NO_ALERTS);
      expect(await archive.readAlertRules("srv_a")).toEqual(NO_ALERTS);
    });

    test("a record that was judged with the former rules is a conflict, and nothing of it is written", async () => {
      const { version, last } = await addEvents(archive, kills(2));
      await archive.setAlertRules("srv_a", RULES);
      expect(await archive.record([record({ version, events: kills(1, 9) })])).toEqual([{ conflict: true }]);
      expect(await archive.findLast(["srv_a"])).toEqual(new Map([["srv_a", last]]));
      await addEvents(archive, kills(1, 9));
      expect(await archive.readAlertRules("srv_a")).toEqual(RULES);
    });

    test("a deleted server's are gone", async () => {
      await archive.setAlertRules("srv_a", RULES);
      await archive.removeServer("srv_a");
      expect(await archive.readAlertRules("srv_a")).toEqual(NO_ALERTS);
    });
  });
}

// What every archive promises about alert rules, whatever keeps it. Each keeper runs the same suite.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { hasRaised, NO_ALERT_STATES } from "../../src/core/alerts/alert-states.ts";
import { type AlertRules, NO_ALERTS } from "../../src/core/alerts/rules.ts";
import { NOTHING_KNOWN } from "../../src/core/events/memory.ts";
import { writeChangedParts } from "../../src/core/events/memory-text.ts";
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

    let tests = 0;
    // A server of its own for each test, because a database for each takes too long.
    let serverId: string;

    beforeAll(async () => {
      harness = await createHarness();
      archive = await harness.open();
    });
    beforeEach(() => {
      serverId = `srv_${++tests}`;
    });
    afterAll(() => harness?.close());

    test("all are off at first; set, they are there for every instance and in the memory", async () => {
      expect(await archive.readAlertRules(serverId)).toEqual(NO_ALERTS);
      await archive.setAlertRules(serverId, RULES);
      archive = await harness.open();
      expect(await archive.readAlertRules(serverId)).toEqual(RULES);
      expect((await archive.load(serverId)).memory.alertRules).toEqual(RULES);
      expect(await archive.readAlertRules("srv_never")).toEqual(NO_ALERTS);
    });

    test("they are replaced as a whole, also by none", async () => {
      await archive.setAlertRules(serverId, RULES);
      await archive.setAlertRules(serverId, { offline: { minutes: 3 } });
      expect(await archive.readAlertRules(serverId)).toEqual({ offline: { minutes: 3 } });
      await archive.setAlertRules(serverId, NO_ALERTS);
      expect(await archive.readAlertRules(serverId)).toEqual(NO_ALERTS);
    });

    test("a record that was judged with the former rules is a conflict, and nothing of it is written", async () => {
      const { version, last } = await addEvents(archive, kills(2), serverId);
      await archive.setAlertRules(serverId, RULES);
      expect(await archive.record([record({ serverId, version, events: kills(1, 9) })])).toEqual([{ conflict: true }]);
      expect(await archive.findLast([serverId])).toEqual(new Map([[serverId, last]]));
      await addEvents(archive, kills(1, 9), serverId);
      expect(await archive.readAlertRules(serverId)).toEqual(RULES);
    });

    test("what is remembered of the alerts of every server is listed, without servers that never had any", async () => {
      const raised = { player: "7", subject: "Eve:7", lastAt: 1, ids: ["a"] };
      const alerts = { place: null, states: { ...NO_ALERT_STATES, commands: [raised] } };
      const memory = writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, alerts });
      await addEvents(archive, kills(1), `${serverId}_quiet`);
      const { version } = await addEvents(archive, kills(1), serverId);
      await archive.record([record({ serverId, version, memory })]);
      const listed = await archive.listAlertStates();
      expect(listed.filter((one) => one.serverId.startsWith(serverId))).toEqual([{ serverId, states: alerts.states }]);
      expect(hasRaised(alerts.states)).toBe(true);
      expect(hasRaised(NO_ALERT_STATES)).toBe(false);
      await archive.removeServer(serverId);
      expect((await archive.listAlertStates()).map((one) => one.serverId)).not.toContain(serverId);
    });

    test("a deleted server's are gone", async () => {
      await archive.setAlertRules(serverId, RULES);
      await archive.removeServer(serverId);
      expect(await archive.readAlertRules(serverId)).toEqual(NO_ALERTS);
    });
  });
}

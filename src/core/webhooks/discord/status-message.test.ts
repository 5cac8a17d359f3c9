// The one message that always shows the state: what it says, when it is edited, and what happens when it is deleted.
import { describe, expect, test } from "bun:test";
import { findDiscordProblems } from "../../../../test/discord-limits.ts";
import type { StatusMessage } from "../webhook.ts";
import { judgeLoss, judgeStatus, type ServerReport, toStatusMessage } from "./status-message.ts";

const NOW = 1_704_614_400_000;
const OPTIONS = { language: "en", showJoinKey: false, serverName: "North Town" } as const;
const link = (name: string, id: string) => `[${name}](https://www.roblox.com/users/${id}/profile)`;

const ONLINE: ServerReport = {
  state: "online",
  settings: { Name: "North", CurrentPlayers: 3, MaxPlayers: 40, JoinKey: "SecretKey" },
  sections: {
    Players: [
      { Player: "Anna:1", Team: "Police", Permission: "Server Moderator" },
      { Player: "Bob:2", Team: "Civilian", Permission: "Normal" },
      { Player: "Cem:3", Team: "Civilian", Permission: "Normal" },
    ],
    Queue: [7, 8],
    Staff: { Admins: { "3": "Cem" }, Mods: {}, Helpers: {} },
    ModCalls: [
      { Caller: "Bob:2", Moderator: null, Timestamp: 1_704_614_000 },
      { Caller: "Bob:2", Moderator: "Anna:1", Timestamp: 1_704_613_000 },
    ],
    EmergencyCalls: [{ Team: "Fire", PositionDescriptor: "Park Street", StartedAt: 1_704_614_100 }],
  },
  readAt: NOW,
};

function fieldsOf(report: ServerReport, options: Parameters<typeof toStatusMessage>[1] = OPTIONS) {
  const { message } = toStatusMessage(report, options);
  expect(findDiscordProblems(message)).toEqual([]);
  const [embed] = message.embeds;
  return Object.fromEntries((embed?.fields ?? []).map(({ name, value }) => [name, value]));
}

function fingerprintOf(change: Partial<ServerReport>): string {
  return toStatusMessage({ ...ONLINE, ...change }, OPTIONS).fingerprint;
}

describe("the status message", () => {
  test("shows state, players of room, queue, staff, open calls and age", () => {
    const { message } = toStatusMessage(ONLINE, OPTIONS);
    expect(message.embeds[0]).toMatchObject({
      title: "🟢 Online",
      description: "**North**\nAs of <t:1704614400:R>",
      footer: { text: "North Town" },
    });
    expect(fieldsOf(ONLINE)).toEqual({
      Players: "**3** of 40\nCivilian 2 · Police 1",
      Queue: "**2**",
      "Staff on the server": `**2**\n${link("Anna", "1")}\n${link("Cem", "3")}`,
      "🔔 Open calls for a moderator": `**1**\n${link("Bob", "2")} · <t:1704614000:R>`,
      "🚨 Emergency calls": "**1**\nFire · Park Street · <t:1704614100:R>",
    });
  });

  test("speaks Russian", () => {
    const fields = fieldsOf(ONLINE, { ...OPTIONS, language: "ru" });
    expect(fields).toMatchObject({ Игроки: "**3** из 40\nГражданские 2 · Полиция 1", Очередь: "**2**" });
  });

  test("shows the join key only where the operator wants it", () => {
    expect(JSON.stringify(toStatusMessage(ONLINE, OPTIONS))).not.toContain("SecretKey");
    expect(fieldsOf(ONLINE, { ...OPTIONS, showJoinKey: true })).toMatchObject({ "Join key": "`SecretKey`" });
  });

  test("leaves out what no reading had, and says nothing of the past of a server that is away", () => {
    expect(Object.keys(fieldsOf({ ...ONLINE, sections: {} }))).toEqual(["Players"]);
    expect(fieldsOf({ ...ONLINE, sections: { ModCalls: [], EmergencyCalls: [], Players: [] } })).toMatchObject({
      "Staff on the server": "nobody",
      "🚨 Emergency calls": "none",
    });
    for (const state of ["offline", "unreachable", "unknown"] as const)
      expect(fieldsOf({ ...ONLINE, state })).toEqual({});
    const unread: ServerReport = { state: "unknown", settings: null, sections: {}, readAt: null };
    expect(toStatusMessage(unread, OPTIONS).message.embeds[0]?.description).toBe(
      "Gatehouse has not read this server yet.",
    );
  });

  test("of a crowded server shows the first of each list and how many more", () => {
    const Players = Array.from({ length: 60 }, (_, n) => ({
      Player: `P${n}:${n + 1}`,
      Permission: "Server Owner",
    }));
    const staff = fieldsOf({ ...ONLINE, sections: { Players } })["Staff on the server"]?.split("\n") ?? [];
    expect([staff[0], staff.length, staff.at(-1)]).toEqual(["**60**", 12, "and more: 50"]);
  });

  test("has the same fingerprint until something but its age changes", () => {
    const { settings, sections } = ONLINE;
    expect(fingerprintOf({ readAt: NOW + 3_600_000 })).toBe(fingerprintOf({}));
    const changes: Partial<ServerReport>[] = [
      { state: "offline" },
      { settings: { ...settings, CurrentPlayers: 4 } },
      { settings: { ...settings, Name: "South" } },
      { sections: { ...sections, Queue: [7] } },
      { sections: { ...sections, Players: [] } },
      { sections: { ...sections, ModCalls: [] } },
      { sections: { ...sections, EmergencyCalls: [] } },
      { readAt: null },
    ];
    const fingerprints = changes.map(fingerprintOf);
    expect(new Set([fingerprintOf({}), ...fingerprints]).size).toBe(changes.length + 1);
    // The join key is not shown, so its change is none of the message.
    expect(fingerprintOf({ settings: { ...settings, JoinKey: "Other" } })).toBe(fingerprintOf({}));
  });
});

describe("editing the status message", () => {
  const posted: StatusMessage = { messageId: "1", editedAt: NOW, fingerprint: "a", lostAt: null };

  test("a change is shown at most once a minute", () => {
    expect(judgeStatus(posted, "b", NOW + 59_999)).toEqual({ kind: "wait", at: NOW + 60_000 });
    expect(judgeStatus(posted, "b", NOW + 60_000)).toEqual({ kind: "edit" });
  });

  test("without a change it is edited once an hour, so that its age tells something", () => {
    expect(judgeStatus(posted, "a", NOW + 3_599_999)).toEqual({ kind: "wait", at: NOW + 3_600_000 });
    expect(judgeStatus(posted, "a", NOW + 3_600_000)).toEqual({ kind: "edit" });
  });

  test("without a message it is posted, and a clock that was set back holds up nothing", () => {
    expect(judgeStatus(null, "a", NOW)).toEqual({ kind: "post" });
    expect(judgeStatus({ ...posted, messageId: null }, "a", NOW)).toEqual({ kind: "post" });
    expect(judgeStatus({ ...posted, editedAt: NOW + 1e9 }, "b", NOW)).toEqual({ kind: "edit" });
  });

  test("a deleted message is posted again once an hour at most; a second loss within it disables", () => {
    const first = judgeLoss(posted, NOW);
    if (!("message" in first)) throw new Error("the first loss must not disable");
    expect(first.message).toMatchObject({ messageId: null, lostAt: NOW });
    expect(judgeLoss(first.message, NOW + 3_599_999)).toEqual({
      disabledReason: "lost_message",
    });
    expect(judgeLoss(first.message, NOW + 3_600_000)).toMatchObject({ message: { lostAt: NOW + 3_600_000 } });
  });
});

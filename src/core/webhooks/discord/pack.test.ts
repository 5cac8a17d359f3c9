// Messages of up to ten events that Discord never has to refuse, whatever players are called.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findDiscordProblems, findHostileMarkdown } from "../../../../test/discord-limits.ts";
import { repeat } from "../../../../test/long.ts";
import { EVENT_TYPES, toEventKind } from "../../events/event-types.ts";
import type { ToldEvent } from "./event-embed.ts";
import { type DiscordMessage, parseMessageId, toEditUrl, toPostUrl } from "./message.ts";
import { eventsPerMessage, packEvents } from "./pack.ts";
import { toStatusMessage } from "./status-message.ts";

const OPTIONS = { language: "en", showJoinKey: false, serverName: "North Town" } as const;

function makeKill(killer: string): ToldEvent {
  const data = JSON.stringify({ Killed: "Anna:1", Killer: killer });
  return { kind: toEventKind("player.killed"), at: 1_704_614_400_000, data, meta: null };
}

/** Pieces that a player could build a name or a text from. */
const HOSTILE_PIECES = [
  "**",
  "__",
  "~~",
  "||",
  "`",
  "```",
  "\\",
  "[a](https://evil.example)",
  "](https://evil.example)[",
  "(",
  ")",
  "https://evil.example/x",
  "discord.gg/evil",
  "@everyone",
  "@here",
  "<@123>",
  "<@&5>",
  "<#5>",
  "<:e:5>",
  "<t:1:R>",
  "</cmd:5>",
  "# ",
  "-# ",
  "> ",
  "1. ",
  "- ",
  "\n",
  "\r\n",
  "\t",
  "\u202e",
  "\u2066",
  "\u2068",
  "\u200b",
  "\u200d",
  "\ufeff",
  "\u3164",
  "\ud83d",
  "\udc00",
  "\u0000",
  "שלום",
  "مرحبا",
  "🙂",
  "👨\u200d👩\u200d👧",
  "z\u0301\u0301\u0301\u0301\u0301\u0301",
  "𝕏",
  "Name",
  ":",
  ":12",
  " ",
  "&lt;",
  "\u{e0041}",
];

const hostile = fc.oneof(
  fc.array(fc.constantFrom(...HOSTILE_PIECES), { maxLength: 30 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.constantFrom(...HOSTILE_PIECES).map((piece) => piece.repeat(10_240 / piece.length)),
);
const id = fc.constantFrom("0", "1", "18446744073709551615", "9".repeat(32));
const reference = fc.oneof(
  fc.tuple(hostile, id).map(([name, number]) => `${name}:${number}`),
  hostile,
);
const value = fc.oneof(hostile, fc.constantFrom(null, true, -1, 5e300, [], {}), fc.array(hostile, { maxLength: 5 }));
const ids = fc.array(fc.integer({ min: 0 }), { maxLength: 60 });

/** Fields of all types at once, so that every type finds what it looks for. */
const element = fc.record(
  {
    Player: reference,
    Killer: reference,
    Killed: reference,
    Caller: fc.oneof(reference, fc.integer()),
    Moderator: reference,
    Command: value,
    Argument: value,
    Event: value,
    Data: value,
    Team: fc.oneof(value, fc.constantFrom("Police", "Fire", "DOT", "ALL", "constructor", "__proto__")),
    Callsign: value,
    Permission: value,
    WantedStars: value,
    Name: value,
    OwnerId: value,
    CoOwnerIds: fc.oneof(ids, value),
    MaxPlayers: value,
    CurrentPlayers: value,
    JoinKey: value,
    AccVerifiedReq: value,
    TeamBalance: value,
    Players: fc.oneof(ids, value),
    Queue: fc.oneof(ids, value),
    Position: fc.oneof(fc.tuple(fc.double(), fc.double()), value),
    PositionDescriptor: value,
    Description: value,
    CallNumber: fc.oneof(value, fc.nat()),
    StartedAt: fc.oneof(fc.nat(), value),
    Timestamp: fc.oneof(fc.nat(), value),
    Owner: value,
    Plate: value,
    ColorName: value,
    Texture: value,
    Role: value,
    UserId: fc.oneof(id, value),
    rule: value,
    subject: reference,
    text: value,
    section: value,
    reason: value,
    from: fc.oneof(fc.nat(), value),
    to: fc.oneof(fc.nat(), value),
    upstream_message: value,
  },
  { requiredKeys: [] },
);
const meta = fc.option(
  fc.record({
    before: fc.oneof(element, ids),
    changed: fc.array(fc.oneof(hostile, fc.constantFrom("Players", "Team")), { maxLength: 30 }),
    answered_between: fc.oneof(fc.tuple(fc.nat(), fc.nat()), value),
  }),
);
const event: fc.Arbitrary<ToldEvent> = fc
  .tuple(fc.constantFrom(...EVENT_TYPES), fc.nat({ max: 8_640_000_000_000_000 }), element, meta)
  .map(([type, at, data, added]) => ({
    kind: toEventKind(type),
    at,
    data: JSON.stringify(data),
    meta: added && JSON.stringify(added),
  }));
const options = fc.record({
  language: fc.constantFrom("en" as const, "ru" as const),
  showJoinKey: fc.boolean(),
  serverName: hostile,
});

/** What anybody reads in it, except for titles, which have words of ours only. */
function listTexts({ embeds }: DiscordMessage): string[] {
  return embeds.flatMap(({ description, fields = [] }) => [description, ...fields.map((field) => field.value)]);
}

function findProblems(message: DiscordMessage): string[] {
  return [
    ...findDiscordProblems(JSON.parse(JSON.stringify(message))),
    ...listTexts(message).flatMap(findHostileMarkdown),
  ];
}

describe("a message with events", () => {
  test("has ten at most, in their order, and says how many", () => {
    const events = Array.from({ length: 25 }, (_, index) => makeKill(`Killer${index}:2`));
    const { message, count } = packEvents(events, OPTIONS);
    expect([count, message.embeds.length]).toEqual([10, 10]);
    for (const [index, { description }] of message.embeds.entries()) expect(description).toContain(`[Killer${index}]`);
    expect(message.allowed_mentions).toEqual({ parse: [] });
  });

  test("has fewer when they are long, so that all embeds stay below 6,000 characters", () => {
    const data = JSON.stringify({ Description: "*".repeat(5_000), PositionDescriptor: "_".repeat(5_000) });
    const call: ToldEvent = { kind: toEventKind("call.opened"), at: 0, data, meta: null };
    const { message, count } = packEvents(Array(10).fill(call), OPTIONS);
    expect(count).toBeGreaterThan(1);
    expect(count).toBeLessThan(10);
    expect(findDiscordProblems(message)).toEqual([]);
  });

  test("has one event after a refusal, so that the others are not set aside with it", () => {
    expect([eventsPerMessage(0), eventsPerMessage(1), eventsPerMessage(4)]).toEqual([10, 1, 1]);
    expect(packEvents([makeKill("A:1"), makeKill("B:2")], OPTIONS, eventsPerMessage(1)).count).toBe(1);
  });

  test("is never one that Discord refuses, and no name formats, links, mentions or hides anything", () => {
    const property = fc.property(fc.array(event, { minLength: 1, maxLength: 12 }), options, (events, given) => {
      const { message, count } = packEvents(events, given);
      expect(count).toBeGreaterThan(0);
      expect(count).toBe(message.embeds.length);
      expect(findProblems(message)).toEqual([]);
    });
    fc.assert(property, { numRuns: repeat({ usual: 60, long: 5_000 }) });
  });

  test("of the state is never one that Discord refuses either", () => {
    const section = fc.oneof(fc.array(element, { maxLength: 60 }), value);
    const sections = fc.record(
      {
        Players: section,
        ModCalls: section,
        EmergencyCalls: section,
        Queue: fc.oneof(ids, value),
        Staff: fc.oneof(fc.record({ Admins: fc.dictionary(id, hostile) }), value),
      },
      { requiredKeys: [] },
    );
    const property = fc.property(element, sections, options, (settings, shown, given) => {
      const report = { state: "online", settings, sections: shown, readAt: 1_704_614_400_000 } as const;
      expect(findProblems(toStatusMessage(report, given).message)).toEqual([]);
    });
    fc.assert(property, { numRuns: repeat({ usual: 25, long: 2_000 }) });
  });
});

describe("the checker", () => {
  test("finds what Discord refuses", () => {
    const valid = packEvents([makeKill("A:1")], OPTIONS).message;
    const [embed] = valid.embeds;
    const refused: object[] = [
      { ...valid, embeds: [] },
      { ...valid, embeds: Array(11).fill({ title: "a" }) },
      { ...valid, embeds: [{ ...embed, title: "a".repeat(257) }] },
      { ...valid, embeds: [{ ...embed, description: "a".repeat(4_097) }] },
      { ...valid, embeds: Array(3).fill({ description: "a".repeat(2_001) }) },
      { ...valid, embeds: [{ ...embed, fields: [{ name: "", value: "a" }] }] },
      { ...valid, embeds: [{ ...embed, fields: [{ name: "a", value: " " }] }] },
      { ...valid, embeds: [{ ...embed, fields: [{ name: "a", value: "a".repeat(1_025) }] }] },
      { ...valid, embeds: [{ ...embed, fields: Array(26).fill({ name: "a", value: "a" }) }] },
      { ...valid, embeds: [{ ...embed, footer: { text: "a".repeat(2_049) } }] },
      { ...valid, embeds: [{ ...embed, color: 0x1000000 }] },
      { ...valid, embeds: [{ ...embed, footer: { text: "\ud83d" } }] },
      { ...valid, embeds: [{}] },
      { ...valid, allowed_mentions: { parse: ["everyone"] } },
      { embeds: valid.embeds },
    ];
    expect(findDiscordProblems(valid)).toEqual([]);
    for (const message of refused) expect(findDiscordProblems(message)).not.toEqual([]);
  });

  test.each(["*a*", "[a](https://evil.example)", "@everyone", "<@1>", "`a", "# a", "a\n> b", "\u202ea", "\\\\*"])(
    "finds %p",
    (text) => {
      expect(findHostileMarkdown(text)).not.toEqual([]);
    },
  );
});

describe("the addresses of a Discord webhook", () => {
  const url = new URL("https://discord.com/api/webhooks/1/token?thread_id=5");

  test("posting waits for the answer, and keeps the thread", () => {
    expect(toPostUrl(url).href).toBe("https://discord.com/api/webhooks/1/token?thread_id=5&wait=true");
    expect(url.searchParams.has("wait")).toBe(false);
  });

  test("editing names the message", () => {
    expect(toEditUrl(url, "77").href).toBe("https://discord.com/api/webhooks/1/token/messages/77?thread_id=5");
    expect(toEditUrl(new URL("http://127.0.0.1:9/hook/"), "7").pathname).toBe("/hook/messages/7");
  });

  test("the id of a posted message is digits, and nothing else is taken for one", () => {
    expect(parseMessageId('{"id":"123456789012345678"}')).toBe("123456789012345678");
    for (const body of ["", "null", "{}", '{"id":5}', '{"id":"../5"}', "<html>"])
      expect(parseMessageId(body)).toBeUndefined();
  });
});

// What a moderator reads in Discord about each type of event.
import { describe, expect, test } from "bun:test";
import { findDiscordProblems, findHostileMarkdown } from "../../../../test/discord-limits.ts";
import { EVENT_TYPES, type EventType, toEventKind } from "../../events/event-types.ts";
import type { WebhookLanguage } from "../webhook.ts";
import { toEventEmbed, toTestEmbed } from "./event-embed.ts";
import { type DiscordEmbed, toDiscordMessage } from "./message.ts";
import { wordsOf } from "./words.ts";

const AT = 1_704_614_460_000;
const WHEN = "<t:1704614460:T> · <t:1704614460:R>";
const link = (name: string, id: string) => `[${name}](https://www.roblox.com/users/${id}/profile)`;
const CALL = {
  Team: "Police",
  Caller: 168,
  Players: [1, 2],
  Position: [-654.6, 666.5],
  StartedAt: 1_704_614_400,
  CallNumber: 400,
  Description: "Robbery at the bank",
  PositionDescriptor: "Park Street",
};
const SETTINGS = { Name: "North", JoinKey: "SecretKey2", MaxPlayers: 40, TeamBalance: true, CoOwnerIds: [1] };

/** An event of every type, as the ledger has it. */
const EXAMPLES: Readonly<Record<EventType, readonly [data: object, meta?: object]>> = {
  "player.joined": [{ Join: true, Timestamp: 1, Player: "Anna:1" }],
  "player.left": [{ Join: false, Timestamp: 1, Player: "Anna:1" }],
  "player.killed": [{ Killed: "Anna:1", Timestamp: 1, Killer: "Bob_B:2" }],
  "command.used": [{ Player: "Anna:1", Timestamp: 1, Command: ":kill all" }, { command_id: "cmd_a" }],
  "modcall.opened": [{ Caller: "Anna:1", Moderator: null, Timestamp: 1_704_614_400 }],
  "modcall.answered": [
    { Caller: "Anna:1", Moderator: "Mod:3", Timestamp: 1_704_614_400 },
    { answered_between: [1_704_614_420_000, 1_704_614_490_000] },
  ],
  "modcall.claimed": [
    { Caller: "Anna:1", Moderator: null, Timestamp: 1_704_614_400 },
    { by: { kind: "person", id: "per_a", name: "Mia *the* Mod" } },
  ],
  "modcall.released": [
    { Caller: "Anna:1", Moderator: null, Timestamp: 1_704_614_400 },
    { by: { kind: "key", id: "key_a", name: "Bot" } },
  ],
  "call.opened": [CALL],
  "call.changed": [CALL, { changed: ["Players", "Description"] }],
  "call.closed": [CALL],
  "custom.command": [{ Command: "log", Argument: "me now", Player: "12345678901234567890" }],
  "custom.unknown": [{ Event: "Weather", Data: { rain: true } }],
  "player.changed": [
    { Player: "Anna:1", Team: "Police", Callsign: "1A-1", Permission: "Normal", WantedStars: 0 },
    { before: { Team: "Civilian", Callsign: null } },
  ],
  "vehicle.spawned": [{ Name: "Fire Engine", Owner: "Anna", Plate: "ABC-123", ColorName: "Super Red" }],
  "vehicle.removed": [{ Name: "Fire Engine", Owner: "Anna", Texture: null }],
  "staff.added": [{ Role: "Mods", UserId: "2", Name: "Another" }],
  "staff.removed": [{ Role: "Admins", UserId: "2", Name: "Another" }],
  "queue.changed": [{ Queue: [1, 2, 3] }, { before: [1] }],
  "server.changed": [
    SETTINGS,
    { before: { Name: "South", JoinKey: "SecretKey1", TeamBalance: false, CoOwnerIds: [] } },
  ],
  "server.online": [{ upstream_code: null, upstream_message: null }],
  "server.offline": [{ upstream_code: 3002, upstream_message: "The server is offline" }],
  "server.unreachable": [{ upstream_code: 0, upstream_message: "No answer" }],
  "alert.raised": [
    { rule: "kills", subject: "Bob_B:2", text: "Bob_B killed 5 players within 60 seconds." },
    { events: ["a"] },
  ],
  "alert.cleared": [{ rule: "players", subject: "server", text: "12 players now." }, { events: [] }],
  gap: [{ section: "KillLogs", reason: "no_overlap", from: 1_704_614_400_000, to: null }],
};

function tell(
  type: EventType,
  [data, meta]: readonly [object, object?] = EXAMPLES[type],
  language: WebhookLanguage = "en",
  showJoinKey = false,
): DiscordEmbed {
  const kind = toEventKind(type);
  const event = { kind, at: AT, data: JSON.stringify(data), meta: meta ? JSON.stringify(meta) : null };
  return toEventEmbed(event, { language, showJoinKey, serverName: "North Town" });
}

function descriptionOf(type: EventType, example?: readonly [object, object?], language?: WebhookLanguage): string {
  return tell(type, example, language).description.replace(`\n${WHEN}`, "");
}

describe("an event in Discord", () => {
  test.each(EVENT_TYPES)("%s says what happened, when and where, in both languages", (type) => {
    for (const language of ["en", "ru"] as const) {
      const embed = tell(type, EXAMPLES[type], language);
      expect(findDiscordProblems(toDiscordMessage([embed]))).toEqual([]);
      expect(embed.title.startsWith(wordsOf(language).title[type].slice(2, 12), 2)).toBe(true);
      expect(embed.description.endsWith(WHEN)).toBe(true);
      expect(embed.footer?.text).toBe("North Town");
      for (const text of [embed.description, ...(embed.fields ?? []).map(({ value }) => value)])
        expect(findHostileMarkdown(text)).toEqual([]);
      // Words of one language must not be left over in the other.
      if (language === "ru") expect(embed.title).toMatch(/[а-я]/);
    }
  });

  test("kills, calls for a moderator and emergency calls differ in colour and title", () => {
    const embeds = (["player.killed", "modcall.opened", "call.opened"] as const).map((type) => tell(type));
    expect(new Set(embeds.map(({ color }) => color)).size).toBe(3);
    expect(embeds.map(({ title }) => [...title][0])).toEqual(["💀", "🔔", "🚓"]);
  });

  test("a kill says who killed whom, and what the game does not say is not made up", () => {
    const [anna, bob] = [`**${link("Anna", "1")}**`, `**${link("Bob\\_B", "2")}**`];
    expect(descriptionOf("player.killed")).toBe(`${bob} killed ${anna}`);
    expect(descriptionOf("player.killed", EXAMPLES["player.killed"], "ru")).toBe(`${bob} убивает игрока ${anna}`);
    for (const Killer of [undefined, null, ""])
      expect(descriptionOf("player.killed", [{ Killed: "Anna:1", Killer }])).toBe(
        `${anna} died. The game names no killer.`,
      );
    expect(descriptionOf("player.killed", [{ Killed: "Anna:1", Killer: "Anna:1" }])).toBe(`${anna} killed themselves`);
    expect(descriptionOf("player.killed", [{}])).toBe("**Somebody** died. The game names no killer.");
  });

  test("a command is shown letter by letter, and ours are marked", () => {
    expect(descriptionOf("command.used")).toBe(`**${link("Anna", "1")}** used \`:kill all\`\nSent through Gatehouse`);
    expect(descriptionOf("command.used", [{ Player: "Remote Server", Command: ":h hi" }])).toBe(
      "**Remote Server** used `:h hi`",
    );
    expect(descriptionOf("custom.command")).toBe(
      `**${link("Player 12345678901234567890", "12345678901234567890")}** used \`;log me now\``,
    );
  });

  test("an answered call says how long the player waited, as far as it is known", () => {
    expect(descriptionOf("modcall.answered")).toBe(
      `**${link("Mod", "3")}** came to **${link("Anna", "1")}**\nWaited: 20 s – 1 min 30 s`,
    );
    expect(descriptionOf("modcall.answered", [{ Caller: "Anna:1", Moderator: "Mod:3" }])).toBe(
      `**${link("Mod", "3")}** came to **${link("Anna", "1")}**`,
    );
  });

  test("an emergency call says what, where and who", () => {
    const { title, description, fields } = tell("call.opened");
    expect(title).toBe("🚓 Emergency call · no. 400");
    expect(description).toBe(`Robbery at the bank\n${WHEN}`);
    expect(fields).toEqual([
      { name: "Where", value: "Park Street\nX -655, Z 667", inline: true },
      { name: "Team", value: "Police", inline: true },
      { name: "Caller", value: link("Player 168", "168"), inline: true },
      { name: "Responding", value: `${link("Player 1", "1")}, ${link("Player 2", "2")}`, inline: true },
    ]);
    const russian = tell("call.changed", EXAMPLES["call.changed"], "ru");
    expect(russian.title).toBe("🚓 Экстренный вызов изменён · № 400");
    expect(russian.description).toContain("Изменилось: на вызове, описание");
    expect(tell("call.closed").description).toContain("Lasted: 1 min");
    expect(tell("call.opened", [{ Caller: null, Description: null }])).toMatchObject({
      title: "🚨 Emergency call",
      description: WHEN,
      fields: [],
    });
  });

  test("a change shows before and after", () => {
    expect(descriptionOf("player.changed")).toBe(
      `**${link("Anna", "1")}**\nTeam: Civilian → **Police**\nCallsign: none → **1A\\-1**`,
    );
    expect(descriptionOf("player.changed", EXAMPLES["player.changed"], "ru")).toContain(
      "Команда: Гражданские → **Полиция**",
    );
  });

  test("the join key is shown only where the operator wants it", () => {
    for (const type of EVENT_TYPES)
      expect(JSON.stringify(tell(type, [SETTINGS, EXAMPLES["server.changed"][1] ?? {}]))).not.toContain("SecretKey");
    expect(descriptionOf("server.changed")).toContain("Join key: changed, not shown here");
    const shown = tell("server.changed", EXAMPLES["server.changed"], "en", true);
    expect(shown.description).toContain("Join key: `SecretKey1` → **`SecretKey2`**");
  });

  test("a gap says why something may be missing, and of what", () => {
    expect(descriptionOf("gap")).toBe(
      "More happened between two readings than the game shows, so entries may have been lost.\n" +
        "Concerns: kills\nSince <t:1704614400:f>",
    );
    expect(descriptionOf("gap", [{ section: "*", reason: "newer" }])).toContain("events may be missing");
  });

  test("an alert says which rule, who and what", () => {
    const bob = `**${link("Bob\\_B", "2")}**`;
    expect(descriptionOf("alert.raised")).toBe(`**Many kills**\n${bob}\nBob\\_B killed 5 players within 60 seconds.`);
    expect(descriptionOf("alert.cleared")).toBe("**Number of players**\n12 players now.");
    expect(
      descriptionOf("alert.raised", [
        { rule: "mass_command", subject: "Remote Server", text: "Remote Server used :ban all **x**" },
      ]),
    ).toBe("**Dangerous command**\nRemote Server used \\:ban all \\*\\*x\\*\\*");
  });

  test("an alert is told in Russian where the webhook promises it", () => {
    const tellInRussian = (rule: string, subject: string, text: string, code?: string, values?: object) =>
      descriptionOf(
        "alert.raised",
        [
          { rule, subject, text },
          { events: [], code, values },
        ],
        "ru",
      )
        .split("\n")
        .slice(1);
    const bob = `**${link("Bob\\_B", "2")}**`;
    expect(tellInRussian("kills", "Bob_B:2", "English", "kills", { count: 5, seconds: 60 })).toEqual([
      bob,
      "5 убийств за 60 секунд.",
    ]);
    expect(tellInRussian("players", "server", "English", "players_now", { count: 12 })).toEqual(["Сейчас 12 игроков."]);
    expect(tellInRussian("mass_command", "Remote Server", "English", "used", { command: ":ban all **x**" })).toEqual([
      "**Remote Server**",
      "Пишет \\:ban all \\*\\*x\\*\\*",
    ]);
    const inEnglish = [bob, "Bob\\_B did \\*something\\* new."];
    expect(tellInRussian("kills", "Bob_B:2", "Bob_B did *something* new.", "something", {})).toEqual(inEnglish);
    expect(tellInRussian("kills", "Bob_B:2", "Bob_B did *something* new.")).toEqual(inEnglish);
  });

  test("hostile names and commands stay harmless in a Russian alert", () => {
    const hostile = "**[x](https://evil.example)** @everyone `\u202e<@1> used # ";
    const alert = { rule: "mass_command", subject: `${hostile}:2`, text: `${hostile} used ${hostile}` };
    const meta = { events: [], code: "used", values: { command: hostile } };
    const description = descriptionOf("alert.raised", [alert, meta], "ru");
    expect(description).toContain("\nПишет ");
    expect(findHostileMarkdown(description)).toEqual([]);
  });

  test("data of any other shape is no obstacle", () => {
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    for (const type of EVENT_TYPES) {
      for (const data of ["{}", "[]", "null", "7", '"text"', `{"Data":${deep}}`, '{"__proto__":1}', "no json"]) {
        const event = { kind: toEventKind(type), at: AT, data, meta: data };
        const embed = toEventEmbed(event, { language: "en", showJoinKey: true, serverName: "" });
        expect([type, data.length, findDiscordProblems(toDiscordMessage([embed]))]).toEqual([type, data.length, []]);
      }
    }
  });

  test("a test says that it is one", () => {
    const embed = toTestEmbed({ language: "ru", showJoinKey: false, serverName: "North Town" });
    expect(findDiscordProblems(toDiscordMessage([embed]))).toEqual([]);
    expect(embed.title).toContain("Проверка");
  });
});

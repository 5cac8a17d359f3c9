import { describe, expect, test } from "bun:test";
import { COMMAND_CHARACTERS_MAX } from "../../../core/commands/command.ts";
import { listPlayerCommands, type PlayerCommand, type Presence, writePlayerCommand } from "./player-commands.ts";

const namesOf = (allowed: readonly string[], presence: Presence, team?: string) =>
  listPlayerCommands(allowed, presence, team).map(({ name }) => name);

const find = (name: string): PlayerCommand => {
  const found = listPlayerCommands(["*"], "unknown", undefined).find((command) => command.name === name);
  if (!found) throw new Error(`there is no command ${name}`);
  return found;
};
const anna = { kind: "name", text: "Anna" } as const;

describe("the commands for a player", () => {
  test("are those that the key may send, however the right is written", () => {
    expect(namesOf([], "here")).toEqual([]);
    expect(namesOf([":h", "KICK", ":pm"], "here")).toEqual(["pm", "kick"]);
    expect(namesOf(["*"], "here").slice(0, 3)).toEqual(["pm", "kick", "jail"]);
  });

  test("let somebody out of jail who is in it, and put in who is not", () => {
    expect(namesOf(["jail", "unjail"], "here", "Jail")).toEqual(["unjail"]);
    expect(namesOf(["jail", "unjail"], "here", "Police")).toEqual(["jail"]);
  });

  test("of a player who is not on the server are those that reach absent players", () => {
    expect(namesOf(["*"], "away")).toEqual(["ban", "unban"]);
    expect(namesOf([":kick"], "away")).toEqual([]);
  });
});

describe("the text of a command", () => {
  test("has the target first, and the text after it", () => {
    expect(writePlayerCommand(find("pm"), anna, "  please drive slower ")).toEqual({
      kind: "ready",
      text: ":pm Anna please drive slower",
    });
    expect(writePlayerCommand(find("kick"), anna, "")).toEqual({ kind: "ready", text: ":kick Anna" });
    const byId = { kind: "id", text: "9007199254740993", because: "beginning" } as const;
    expect(writePlayerCommand(find("kick"), byId, "bye")).toEqual({
      kind: "ready",
      text: ":kick 9007199254740993 bye",
    });
  });

  test("has no words after the player where the game could take them for more players", () => {
    expect(writePlayerCommand(find("ban"), anna, "Bob")).toEqual({ kind: "ready", text: ":ban Anna" });
    expect(writePlayerCommand(find("jail"), anna, "Bob")).toEqual({ kind: "ready", text: ":jail Anna" });
  });

  test("does not exist without a target, without the text that it needs, or when it cannot be sent", () => {
    const why = (name: string, words: string) => writePlayerCommand(find(name), anna, words);
    const nobody = { kind: "none", because: "noId" } as const;
    expect(writePlayerCommand(find("kick"), nobody, "")).toEqual({ kind: "unready", because: "noTarget" });
    expect(why("pm", "  ")).toEqual({ kind: "unready", because: "noText" });
    expect(why("pm", "a\nb")).toEqual({ kind: "unready", because: "unsendable" });
    expect(why("pm", "x".repeat(COMMAND_CHARACTERS_MAX))).toEqual({ kind: "unready", because: "tooLong" });
  });
});

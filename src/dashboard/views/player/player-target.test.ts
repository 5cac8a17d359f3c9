import { describe, expect, test } from "bun:test";
import { HOSTILE_NAMES } from "../../../../test/browser/hostile-names.ts";
import { findTargets } from "../../../simulator/commands.ts";
import type { Town } from "../../../simulator/town.ts";
import type { PlayerRef } from "../../player-ref.ts";
import { findTarget } from "./player-target.ts";

const anna = { name: "Anna", id: "11" };
const bob = { name: "Bob", id: "22" };

describe("the target of a command", () => {
  test("is the whole name of a player whom no other name begins with", () => {
    expect(findTarget(anna, [anna, bob])).toEqual({ kind: "name", text: "Anna" });
  });

  test("is the id when the name of somebody else begins with it, in any case", () => {
    const here = [anna, { name: "aNNabel", id: "33" }];
    expect(findTarget(anna, here)).toEqual({ kind: "id", text: "11", because: "beginning" });
  });

  test("is the id when somebody else has the same name", () => {
    expect(findTarget(anna, [anna, { name: "Anna", id: "33" }])).toMatchObject({ kind: "id", text: "11" });
    expect(findTarget(anna, [anna, { name: "Anna", id: undefined }])).toMatchObject({ kind: "id" });
  });

  test.each(["all", "Others", "ME", "Police", "12345"])("is the id of a player with the name %s", (name) => {
    const player = { name, id: "44" };
    expect(findTarget(player, [player])).toEqual({ kind: "id", text: "44", because: "otherMeaning" });
  });

  test("never contains a name that is not one plain word", () => {
    for (const name of [...HOSTILE_NAMES, "two words", "a,b", "a:b", "", "имя", "x\u200b"]) {
      const player = { name, id: "55" };
      const target = findTarget(player, [player]);
      if (/^\w+$/.test(name) && name.length < 65) expect(target.kind).toBe("name");
      else expect(target).toEqual({ kind: "id", text: "55", because: "unwritable" });
      const nameless = findTarget({ name, id: undefined }, [{ name, id: undefined }]);
      expect(nameless).toEqual({ kind: "none", because: "noId" });
    }
  });

  test("is the id of a player who is not here, or while it is not known who is here", () => {
    expect(findTarget(anna, [bob])).toEqual({ kind: "id", text: "11", because: "notHere" });
    expect(findTarget(anna, undefined)).toEqual({ kind: "id", text: "11", because: "unknownOthers" });
    // The player was renamed since.
    expect(findTarget(anna, [{ name: "Annika", id: "11" }])).toMatchObject({ kind: "id", text: "11" });
  });

  test("does not exist when neither the name nor the id is safe", () => {
    const here = [anna, { name: "Anna2", id: "33" }, { name: "11th_hour", id: "34" }];
    expect(findTarget(anna, here)).toEqual({ kind: "none", because: "idIsName" });
    expect(findTarget({ name: "Ann", id: "../x" }, [anna])).toEqual({ kind: "none", because: "noId" });
  });

  test("reaches exactly this player in a game that takes beginnings of names, whoever else is there", () => {
    const names = ["Anna", "anna", "Annabel", "An", "all", "others", "me", "1", "12", "12a", "two words", "_"];
    const everybody = names.map((name, index) => ({ name, id: String(index + 1) }));
    const town = makeTown(everybody);
    for (const player of everybody) {
      const target = findTarget(player, everybody);
      if (target.kind === "none") continue;
      const reached = findTargets(town, null, target.text).map(({ profile }) => String(profile.id));
      expect([player.name, reached]).toEqual([player.name, [player.id]]);
    }
  });
});

/** Only what `findTargets` reads. */
function makeTown(players: readonly PlayerRef[]): Town {
  const entries = players.map(({ name, id }) => [Number(id), { profile: { name, id: Number(id) } }] as const);
  return { players: new Map(entries) } as unknown as Town;
}

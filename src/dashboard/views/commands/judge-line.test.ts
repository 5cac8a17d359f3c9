// A command reaches exactly the players that its sender typed in full or confirmed by name. The rule of the game is written
// here once more, so that it judges the code.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { repeat } from "../../../../test/long.ts";
import { choiceKey, type Judgement, judgeLine, meansTheSame, type Plan, writePlan } from "./judge-line.ts";
import { type Candidate, keyOfPlayer, writeTarget } from "./targets.ts";

const ANNA = { name: "Anna", id: "1", team: "Civilian" };
const HANNAH = { name: "Hannah", id: "2", team: "Police" };
const BOB = { name: "Bob", id: "3", team: "Police" };
const BOBBY = { name: "Bobby", id: "4", team: "Fire" };
const PLAYERS = [ANNA, HANNAH, BOB, BOBBY];
const ALL = ["*"];

function judge(line: string, players: readonly Candidate[] | undefined = PLAYERS, isStale = false): Judgement {
  return judgeLine(line, ALL, { players, isStale });
}

function planOf(judgement: Judgement): Plan {
  if (judgement.kind !== "ask") throw new Error(`expected a question, got ${JSON.stringify(judgement)}`);
  return judgement.plan;
}

const askAbout = (line: string, players: readonly Candidate[] | undefined = PLAYERS, isStale = false) =>
  planOf(judgeLine(line, ALL, { players, isStale }));
const kindsOf = (plan: Plan) => plan.targets.map((targets) => targets.map(({ kind }) => kind));
const namesOf = (players: readonly Candidate[] | undefined) => players?.map(({ name }) => name);

describe("a command is sent at once", () => {
  test.each([
    [":h good evening, all", ":h good evening, all"],
    [":m Bob", ":m Bob"],
    [":weather rain", ":weather rain"],
    [":kick Anna", ":kick Anna"],
    [":kick  aNNa  please stop", ":kick Anna please stop"],
    [":KICK 2 bye", ":KICK Hannah bye"],
    [":kick Anna,anna,1", ":kick Anna"],
    [":pm Anna, look at the rules", ":pm Anna look at the rules"],
    [":tp Anna hannah", ":tp Anna Hannah"],
    [":unban Somebody", ":unban Somebody"],
    [":stopfire", ":stopfire"],
  ])("%s is sent as %s", (line, text) => {
    expect(judge(line)).toMatchObject({ kind: "ready", text });
  });

  test("by id when the name is also the beginning of another name", () => {
    expect(judge(":kick bob")).toMatchObject({ kind: "ready", text: ":kick 3" });
    expect(judge(":kick BOBBY")).toMatchObject({ kind: "ready", text: ":kick Bobby" });
  });
});

describe("a command is confirmed", () => {
  test("with the whole name when only the beginning was typed", () => {
    const plan = askAbout(":kick ha");
    expect(kindsOf(plan)).toEqual([["part"]]);
    expect(writePlan(plan)).toEqual({ text: ":kick Hannah", meant: [[HANNAH]] });
  });

  test("after a choice when several names begin like this", () => {
    const plan = askAbout(":kick bo now");
    expect(kindsOf(plan)).toEqual([["several"]]);
    expect(writePlan(plan)).toBeUndefined();
    const choose = (...players: Candidate[]) =>
      writePlan(plan, new Map([[choiceKey(0, 0), new Set(players.map(keyOfPlayer))]]));
    expect(choose()).toBeUndefined();
    expect(choose(BOB)).toEqual({ text: ":kick 3 now", meant: [[BOB]] });
    expect(choose(BOB, BOBBY)).toEqual({ text: ":kick 3,Bobby now", meant: [[BOB, BOBBY]] });
  });

  test("when nobody on the server has the name", () => {
    expect(kindsOf(askAbout(":kick Zed"))).toEqual([["nobody"]]);
    expect(writePlan(askAbout(":kick Zed"))).toEqual({ text: ":kick Zed", meant: [[]] });
    // A look-alike: the first letter is Cyrillic.
    expect(kindsOf(askAbout(":kick Аnna"))).toEqual([["nobody"]]);
  });

  test.each(["all", "ALL", "others"])("for %s, with everybody on the server", (word) => {
    const plan = askAbout(`:pm ${word} hello`);
    expect(kindsOf(plan)).toEqual([["everybody"]]);
    expect(writePlan(plan)?.meant).toEqual([PLAYERS]);
  });

  test("for a team, with its players and those whose names begin like the team", () => {
    const officer = { name: "Policewoman", id: "9", team: "DOT" };
    expect(namesOf(writePlan(askAbout(":kick police", [...PLAYERS, officer]))?.meant[0])).toEqual([
      ...["Hannah", "Bob", "Policewoman"],
    ]);
    expect(namesOf(writePlan(askAbout(":kick %pol"))?.meant[0])).toEqual(["Hannah", "Bob"]);
  });

  test("for several targets, also with spaces after the commas", () => {
    expect(writePlan(askAbout(":jail Anna,Hannah"))?.text).toBe(":jail Anna,Hannah");
    expect(writePlan(askAbout(":jail Anna, hannah , 3 now"))?.text).toBe(":jail Anna,Hannah,3 now");
  });

  test("for me, which means nobody", () => {
    expect(writePlan(askAbout(":tp me Anna"))).toEqual({ text: ":tp me Anna", meant: [[], [ANNA]] });
  });

  test("when it is hard to undo, names no player, or is not known", () => {
    expect(askAbout(":ban Anna").concerns).toEqual(["hardToUndo"]);
    expect(askAbout(":SHUTDOWN").concerns).toEqual(["hardToUndo"]);
    expect(askAbout(":kick").concerns).toEqual(["noTarget"]);
    expect(askAbout(":kick ,").concerns).toEqual(["noTarget"]);
    expect(askAbout(":kik Anna").concerns).toEqual(["unknownCommand"]);
    expect(judge(":siren")).toMatchObject({ kind: "ready", text: ":siren" });
  });

  test("when the players cannot be read, or may have changed", () => {
    expect(judgeLine(":kick Anna", ALL, { players: undefined, isStale: false })).toMatchObject({
      plan: { concerns: ["unchecked"] },
    });
    const plan = planOf(judgeLine(":kick Anna,all", ALL, { players: undefined, isStale: false }));
    expect(writePlan(plan)).toEqual({ text: ":kick Anna,all", meant: [undefined] });
    expect(askAbout(":kick anna", PLAYERS, true).concerns).toEqual(["stale"]);
    expect(judge(":h hello", PLAYERS, true).kind).toBe("ready");
    expect(judge(":unban Anna", PLAYERS, true).kind).toBe("ready");
  });

  test("when everybody who is banned is meant", () => {
    expect(kindsOf(askAbout(":unban all"))).toEqual([["everybody"]]);
  });
});

describe("a missing colon", () => {
  test.each(["kick Anna", "/kick Anna", "!kick Anna", ": kick Anna", "::kick Anna", "：kick Anna"])(
    "%s is mended, and confirmed",
    (line) => {
      const plan = askAbout(line);
      expect(plan.concerns).toEqual(["colon"]);
      expect(writePlan(plan)?.text).toBe(":kick Anna");
    },
  );

  test.each(["hello all", "Anna", ":", "/siren", "!"])("%s is no command, and is refused", (line) => {
    expect(judge(line)).toEqual({ kind: "refused", reason: "noCommand" });
  });
});

describe("a key", () => {
  test("sends only the commands that it may send", () => {
    const roster = { players: PLAYERS, isStale: false };
    const allowed = [":h", "pm", "!horn"];
    expect(judgeLine(":kick Anna", allowed, roster)).toEqual({ kind: "refused", reason: "forbidden" });
    expect(judgeLine("kick all", allowed, roster)).toEqual({ kind: "refused", reason: "forbidden" });
    expect(judgeLine(":PM Anna hi", allowed, roster)).toMatchObject({ kind: "ready", text: ":PM Anna hi" });
    expect(judgeLine("!horn twice", allowed, roster)).toMatchObject({ kind: "ready", text: "!horn twice" });
  });
});

test("a confirmation stands only while it means the same players", () => {
  const before = writePlan(askAbout(":kick ha"));
  const joined = writePlan(askAbout(":kick ha", [...PLAYERS, { name: "Hannah2", id: "5", team: "Fire" }]));
  const still = writePlan(askAbout(":kick ha", [...PLAYERS].reverse()));
  expect(joined).toBeUndefined();
  expect(before && still && meansTheSame(before, still)).toBe(true);
  const all = writePlan(askAbout(":kick all"));
  const fewer = writePlan(askAbout(":kick all", PLAYERS.slice(1)));
  expect(all && fewer && meansTheSame(all, fewer)).toBe(false);
});

/** Names that are beginnings of each other, differ in case only, look alike, are words of the game, or are no single word. */
const HOSTILE_NAMES = [
  ...["Bob", "bob", "BOB", "Bobby", "Bobby2", "B", "Bo", "Воb", "Bοb", "Bob\u200b", "İb", "ıb", "ß", "SS"],
  ...["all", "ALL", "others", "me", "Police", "police", "%police", "12", "123", "1", "0", "toString"],
  ...["two words", "a,b", ",", ":kick", "x:y", "__proto__", ""],
];
const player = fc.record({
  name: fc.oneof(fc.constantFrom(...HOSTILE_NAMES), fc.string({ maxLength: 5 })),
  id: fc.oneof(fc.nat(130).map(String), fc.constant(undefined)),
  team: fc.constantFrom("Police", "Fire", "police", undefined),
});
const roster = fc.uniqueArray(player, { maxLength: 8, selector: keyOfPlayer });
const typedName = fc.oneof(fc.constantFrom(...HOSTILE_NAMES), fc.nat(130).map(String));

/** Whom the game takes: ids, beginnings of names in any case, lists up to the first space, and everybody. */
function listHit(text: string, players: readonly Candidate[]): Candidate[] {
  const [, list = ""] = text.split(/\s+/u);
  const words = list.toLowerCase().split(",").filter(Boolean);
  return players.filter(({ name, id }) =>
    words.some((word) => {
      if (word === "all" || word === "others") return true;
      return word !== "me" && (id === word || name.toLowerCase().startsWith(word));
    }),
  );
}

describe("for any names", () => {
  test("a command that is sent at once hits at most one player, whose name or id was typed in full", () => {
    fc.assert(
      fc.property(roster, fc.array(typedName, { minLength: 1, maxLength: 3 }), (players, names) => {
        const judgement = judge(`:kick ${names.join(",")} reason`, players);
        if (judgement.kind !== "ready") return;
        const hit = listHit(judgement.text, players);
        expect(hit).toHaveLength(1);
        const [{ name = "", id }] = hit as [Candidate];
        const typed = names
          .join(",")
          .toLowerCase()
          .split(/[,\s]+/u);
        expect(typed.includes(name.toLowerCase()) || typed.includes(id ?? "")).toBe(true);
      }),
      { numRuns: repeat({ usual: 1_000, long: 20_000 }) },
    );
  });

  test("a confirmed command hits nobody who was not shown, and everybody who was, apart from teams", () => {
    fc.assert(
      fc.property(
        roster,
        fc.array(typedName, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (players, names, isAll) => {
          const judgement = judge(`:kick ${names.join(",")}`, players);
          if (judgement.kind !== "ask") return;
          const choices = new Map(
            judgement.plan.targets.flatMap((targets, index) =>
              targets.map((target, place) => {
                const shown = target.kind === "several" ? target.players.map(keyOfPlayer) : [];
                return [choiceKey(index, place), new Set(isAll ? shown : shown.slice(0, 1))] as const;
              }),
            ),
          );
          const written = writePlan(judgement.plan, choices);
          const shown = new Set(written?.meant.flatMap((meant) => meant ?? []).map(keyOfPlayer));
          const hit = new Set(listHit(written?.text ?? "", players).map(keyOfPlayer));
          expect([...hit].filter((key) => !shown.has(key))).toEqual([]);
          const hasTeam = judgement.plan.targets.flat().some(({ kind }) => kind === "team");
          if (!hasTeam) expect([...shown].filter((key) => !hit.has(key))).toEqual([]);
        },
      ),
      { numRuns: repeat({ usual: 1_000, long: 20_000 }) },
    );
  });

  test("the word for one player hits this player and nobody else", () => {
    fc.assert(
      fc.property(roster, (players) => {
        for (const one of players) {
          const word = writeTarget(one, players);
          if (word === undefined) continue;
          expect(listHit(`:kick ${word}`, players)).toEqual([one]);
        }
      }),
      { numRuns: repeat({ usual: 1_000, long: 20_000 }) },
    );
  });
});

test("by id, several players are named by what stays right when somebody joins", () => {
  const roster = { players: PLAYERS, isStale: false, isById: true };
  const judged = judgeLine(":kick 1,3,4 spam", ALL, roster);
  expect(writePlan(planOf(judged))).toEqual({ text: ":kick 1,3,4 spam", meant: [[ANNA, BOB, BOBBY]] });
  // Somebody whose name begins with the id would be meant as well, so that player is named by the name.
  const namesake = { name: "3rd", id: "9", team: undefined };
  const other = judgeLine(":kick 1,3", ALL, { ...roster, players: [ANNA, BOB, namesake] });
  expect(writePlan(planOf(other))).toEqual({ text: ":kick 1,Bob", meant: [[ANNA, BOB]] });
});

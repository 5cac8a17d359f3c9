// Commands act on the town where they can, are logged, and are refused with the codes of the game API.
import { beforeEach, describe, expect, test } from "bun:test";
import { COMMAND_LENGTH_MAX, PROHIBITED_WORD, runRemoteCommand } from "./commands.ts";
import { listResidents, type Resident, type Town } from "./town.ts";
import { foundTown } from "./town-clock.ts";

let town: Town;
let someone: Resident;
let other: Resident;

beforeEach(() => {
  town = foundTown(
    { seed: 1, serverId: "demo", playersWanted: 20, maxPlayers: 20, speed: 1 },
    1_800_000_000_000,
  );
  const free = listResidents(town).filter(
    ({ team, person }) => team === "Civilian" && person.rank === "none",
  );
  [someone, other] = free as [Resident, Resident];
  town.queue = [];
});

const run = (text: string) => runRemoteCommand(town, text);
const newestKill = () => town.kills.newest()[0];

describe("effects", () => {
  test(":kick takes a player out of the town and writes the join log", () => {
    expect(run(`:kick ${someone.person.name} reason`)).toBeUndefined();
    expect(town.residents.has(someone.person.id)).toBe(false);
    expect(town.joins.newest()[0]).toMatchObject({
      join: false,
      player: `${someone.person.name}:${someone.person.id}`,
    });
  });

  test(":kick lets the next in the queue in at once", () => {
    const waiting = town.people.find(({ id }) => !town.residents.has(id));
    if (!waiting) throw new Error("nobody is at home");
    town.queue = [waiting];
    run(`:kick ${someone.person.name}`);
    expect(town.residents.has(waiting.id)).toBe(true);
    expect(town.queue).toEqual([]);
  });

  test(":ban keeps a player away until :unban", () => {
    run(`:ban ${someone.person.name}`);
    expect(town.residents.has(someone.person.id)).toBe(false);
    expect(town.people).not.toContain(someone.person);
    run(`:unban ${someone.person.id}`);
    expect(town.people.some(({ id }) => id === someone.person.id)).toBe(true);
  });

  test(":kill writes the kill log and clears stars", () => {
    run(`:wanted ${someone.person.name}`);
    run(`:kill ${someone.person.name}`);
    expect(newestKill()).toMatchObject({
      killed: `${someone.person.name}:${someone.person.id}`,
      killer: null,
    });
    expect(someone.stars).toBe(0);
  });

  test(":wanted gives stars, five at most, and :unwanted takes them", () => {
    run(`:wanted ${someone.person.name} 9`);
    expect(someone.stars).toBe(5);
    run(`:unwanted ${someone.person.name}`);
    expect(someone.stars).toBe(0);
  });

  test(":jail puts a player on the Jail team without vehicle, :unjail frees", () => {
    run(`:jail ${someone.person.name}`);
    expect(someone).toMatchObject({ team: "Jail", vehicle: null, callsign: null });
    run(`:unjail ${someone.person.name}`);
    expect(someone.team).toBe("Civilian");
  });

  test(":tp moves one player to another, :respawn and :load move elsewhere", () => {
    run(`:tp ${someone.person.name} ${other.person.name}`);
    expect(someone.place).toEqual(other.place);
    run(`:respawn ${someone.person.name}`);
    const hospital = someone.place;
    run(`:load ${other.person.name}`);
    expect(other.place).toEqual(hospital);
  });

  test.each([
    ["admin", "administrator"],
    ["mod", "moderator"],
    ["helper", "helper"],
  ])(":%s gives the rank and its opposite takes it", (word, rank) => {
    run(`:${word} ${someone.person.name}`);
    expect(someone.person.rank).toBe(rank as never);
    run(`:un${word} ${someone.person.name}`);
    expect(someone.person.rank).toBe("none");
  });

  test("the owner's rank is not taken by :mod", () => {
    const owner = town.people.find(({ rank }) => rank === "owner");
    run(`:mod ${owner?.id}`);
    expect(owner?.rank).toBe("owner");
  });

  test(":startfire places a fire call and :stopfire ends it", () => {
    run(":startfire house");
    expect(town.emergencies.some(({ isFire, team }) => isFire && team === "Fire")).toBe(true);
    run(":stopfire");
    expect(town.emergencies.some(({ isFire }) => isFire)).toBe(false);
  });
});

describe("targets", () => {
  test("names match by their beginning, whatever the case, and in comma lists", () => {
    run(`:wanted ${someone.person.name.slice(0, -1).toUpperCase()},${other.person.id}`);
    expect([someone.stars, other.stars]).toEqual([3, 3]);
  });

  test.each(["all", "others"])("%s means everyone to the API", (word) => {
    run(`:wanted ${word}`);
    expect(listResidents(town).every(({ stars }) => stars === 3)).toBe(true);
  });

  test("nobody of that name is no error and changes nothing", () => {
    const before = town.residents.size;
    expect(run(":kick Nobody_Of_That_Name")).toBeUndefined();
    expect(town.residents.size).toBe(before);
  });
});

describe("log and refusals", () => {
  test.each([
    ":h hello",
    ":m hi all",
    ":pm all hi",
    ":heal all",
    ":refresh all",
    ":log note",
    ":time 12",
    ":weather fog",
    ":prty 60",
    ":priority 60",
    ":peacetimer 60",
  ])("%s is accepted and logged as coming from outside", (text) => {
    expect(run(text)).toBeUndefined();
    expect(town.commands.newest()[0]).toMatchObject({ player: null, text });
  });

  test.each(["hello", "", ":", ": h", ":nosuchcommand all", `:h ${"x".repeat(COMMAND_LENGTH_MAX)}`])(
    "%p is no valid command",
    (text) => {
      expect(run(text)).toBe(3001);
    },
  );

  test("restricted commands and prohibited text have codes of their own and leave no trace", () => {
    const before = town.commands.newest()[0];
    expect(run(":shutdown")).toBe(4002);
    expect(run(`:h this is a ${PROHIBITED_WORD}`)).toBe(4003);
    expect(town.commands.newest()[0]).toBe(before);
  });

  test("an empty town is offline to commands", () => {
    expect(run(":kick all")).toBeUndefined();
    expect(run(":h anyone?")).toBe(3002);
  });
});

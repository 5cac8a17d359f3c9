// Commands change the town, are logged, and are refused with the codes of the game API.
import { beforeEach, describe, expect, test } from "bun:test";
import { COMMAND_LENGTH_MAX, PROHIBITED_WORD, runRemoteCommand } from "./commands.ts";
import { listPlayers, type Player, type Town } from "./town.ts";
import { createTown } from "./town-registry.ts";

let town: Town;
let someone: Player;
let other: Player;

beforeEach(() => {
  town = createTown(
    { seed: 1, serverId: "demo", playersWanted: 20, maxPlayers: 20, speed: 1, logWindow: 50 },
    1_800_000_000_000,
  );
  const free = listPlayers(town).filter(({ team, profile }) => team === "Civilian" && profile.rank === "none");
  [someone, other] = free as [Player, Player];
  town.queue = [];
});

const run = (text: string) => runRemoteCommand(town, text);
const newestKill = () => town.logs.newest("KillLogs")[0];

describe("effects", () => {
  test(":kick removes a player and adds to the join log", () => {
    expect(run(`:kick ${someone.profile.name} reason`)).toBeUndefined();
    expect(town.players.has(someone.profile.id)).toBe(false);
    expect(town.logs.newest("JoinLogs")[0]).toMatchObject({
      join: false,
      player: `${someone.profile.name}:${someone.profile.id}`,
    });
  });

  test(":kick lets the next in the queue join at once", () => {
    const waiting = town.profiles.find(({ id }) => !town.players.has(id));
    if (!waiting) throw new Error("nobody is offline");
    town.queue = [waiting];
    run(`:kick ${someone.profile.name}`);
    expect(town.players.has(waiting.id)).toBe(true);
    expect(town.queue).toEqual([]);
  });

  test(":ban keeps a player out until :unban", () => {
    run(`:ban ${someone.profile.name}`);
    expect(town.players.has(someone.profile.id)).toBe(false);
    expect(town.profiles).not.toContain(someone.profile);
    run(`:unban ${someone.profile.id}`);
    expect(town.profiles.some(({ id }) => id === someone.profile.id)).toBe(true);
  });

  test(":kill adds to the kill log and clears the stars", () => {
    run(`:wanted ${someone.profile.name}`);
    run(`:kill ${someone.profile.name}`);
    expect(newestKill()).toMatchObject({
      killed: `${someone.profile.name}:${someone.profile.id}`,
      killer: null,
    });
    expect(someone.stars).toBe(0);
  });

  test(":wanted sets stars, five at most, and :unwanted clears them", () => {
    run(`:wanted ${someone.profile.name} 9`);
    expect(someone.stars).toBe(5);
    run(`:unwanted ${someone.profile.name}`);
    expect(someone.stars).toBe(0);
  });

  test(":jail puts a player on the Jail team without a vehicle, :unjail releases the player", () => {
    run(`:jail ${someone.profile.name}`);
    expect(someone).toMatchObject({ team: "Jail", vehicle: null, callsign: null });
    run(`:unjail ${someone.profile.name}`);
    expect(someone.team).toBe("Civilian");
  });

  test(":tp moves one player to another, :respawn and :load move to the hospital", () => {
    run(`:tp ${someone.profile.name} ${other.profile.name}`);
    expect(someone.place).toEqual(other.place);
    run(`:respawn ${someone.profile.name}`);
    const hospital = someone.place;
    run(`:load ${other.profile.name}`);
    expect(other.place).toEqual(hospital);
  });

  test.each([
    ["admin", "administrator"],
    ["mod", "moderator"],
    ["helper", "helper"],
  ])(":%s sets the rank %s, and the opposite command removes it", (word, rank) => {
    run(`:${word} ${someone.profile.name}`);
    expect(someone.profile.rank).toBe(rank as never);
    run(`:un${word} ${someone.profile.name}`);
    expect(someone.profile.rank).toBe("none");
  });

  test(":mod does not change the owner's rank", () => {
    const owner = town.profiles.find(({ rank }) => rank === "owner");
    run(`:mod ${owner?.id}`);
    expect(owner?.rank).toBe("owner");
  });

  test(":startfire adds a fire call and :stopfire removes it", () => {
    run(":startfire house");
    expect(town.emergencies.some(({ isFire, team }) => isFire && team === "Fire")).toBe(true);
    run(":stopfire");
    expect(town.emergencies.some(({ isFire }) => isFire)).toBe(false);
  });
});

describe("targets", () => {
  test("names match by their beginning, whatever the case, and in comma lists", () => {
    run(`:wanted ${someone.profile.name.slice(0, -1).toUpperCase()},${other.profile.id}`);
    expect([someone.stars, other.stars]).toEqual([3, 3]);
  });

  test.each(["all", "others"])("%s means everyone to the API", (word) => {
    run(`:wanted ${word}`);
    expect(listPlayers(town).every(({ stars }) => stars === 3)).toBe(true);
  });

  test("an unknown name is no error and changes nothing", () => {
    const before = town.players.size;
    expect(run(":kick Nobody_Of_That_Name")).toBeUndefined();
    expect(town.players.size).toBe(before);
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
  ])("%s is accepted and logged as coming from the API", (text) => {
    expect(run(text)).toBeUndefined();
    expect(town.logs.newest("CommandLogs")[0]).toMatchObject({ player: null, text });
  });

  test.each(["hello", "", ":", ": h", ":nosuchcommand all", `:h ${"x".repeat(COMMAND_LENGTH_MAX)}`])(
    "%p is not a valid command",
    (text) => {
      expect(run(text)).toBe(3001);
    },
  );

  test("restricted commands and prohibited text have their own codes and are not logged", () => {
    const before = town.logs.newest("CommandLogs")[0];
    expect(run(":shutdown")).toBe(4002);
    expect(run(`:h this is a ${PROHIBITED_WORD}`)).toBe(4003);
    expect(town.logs.newest("CommandLogs")[0]).toBe(before);
  });

  test("an empty town is offline for commands", () => {
    expect(run(":kick all")).toBeUndefined();
    expect(run(":h anyone?")).toBe(3002);
  });
});

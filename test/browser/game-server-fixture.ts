// The state of the game servers in the browser tests. It never changes; its times are relative to the start of the tests.

export const TEAMS = ["Civilian", "Sheriff", "Police", "Fire", "DOT", "Jail"] as const;

const NAMES = [
  "AveryStone",
  "BlueHeron",
  "CopperFox",
  "DashRunner",
  "EllaBrook",
  "FrostByte",
  "GoldenOak",
  "HarborLight",
  "IronMaple",
  "JuneCarter",
];
const STREETS = ["Park Street", "Main Street", "Liberty Way", "Elm Street", "Riverside Drive"];
const PERMISSIONS = ["Server Owner", "Server Co-Owner", "Server Administrator", "Server Moderator"];
const PLAYERS = 40;
const MINUTE = 60;

export const START_SECONDS = Math.floor(Date.now() / 1000);

/** Whether a time is of the present day in New York: the tests may run across midnight. */
export function isToday(seconds: number): boolean {
  const dayOf = (ms: number) => new Intl.DateTimeFormat("en", { timeZone: "America/New_York" }).format(ms);
  return dayOf(seconds * 1000) === dayOf(Date.now());
}

/** A time as the page shows it in New York, the time zone of the browser. */
export function formatLocalTime(seconds: number, language: string): string {
  return new Intl.DateTimeFormat(language, { timeStyle: "medium", timeZone: "America/New_York" })
    .format(seconds * 1000)
    .replaceAll(/\s/g, " ");
}

export function nameOf(index: number): string {
  const name = NAMES[index % NAMES.length] ?? "";
  return index < NAMES.length ? name : `${name}_${index}`;
}

/** Every other id is too large for a double. */
export function idOf(index: number): string {
  return index % 2 === 0 ? String(10_000 + index) : `90071992547409${String(930 + index)}`;
}

export function refOf(index: number): string {
  return `${nameOf(index)}:${idOf(index)}`;
}

function ago(minutes: number): number {
  return START_SECONDS - Math.round(minutes * MINUTE);
}

/** The time of the newest entry of all logs. */
export const NEWEST_ENTRY_SECONDS = ago(0.5);

function listPlayers() {
  return Array.from({ length: PLAYERS }, (_, index) => {
    const Team = TEAMS[index % TEAMS.length] ?? "Civilian";
    const angle = (index / PLAYERS) * 2 * Math.PI;
    return {
      Team,
      Player: refOf(index),
      Callsign: Team === "Civilian" || Team === "Jail" ? null : `${(index % 9) + 1}D-${500 + index}`,
      // One player has no position; real servers have such players.
      ...(index !== 7 && {
        Location: {
          LocationX: Math.round(Math.cos(angle) * (300 + index * 20)),
          LocationZ: Math.round(Math.sin(angle) * (300 + index * 20)),
          PostalCode: String(200 + index),
          StreetName: STREETS[index % STREETS.length],
          BuildingNumber: String(2000 + index),
        },
      }),
      Permission: PERMISSIONS[index] ?? "Normal",
      WantedStars: Team === "Civilian" ? (index / 6) % 6 : 0,
    };
  });
}

const COLOURS = [
  ["#FF4444", "Super Red"],
  ["#1b2a4e", "Midnight Blue"],
  ["#f2f2f2", "Arctic White"],
  ["#2f9e44", "Forest Green"],
] as const;

function listVehicles() {
  return Array.from({ length: 24 }, (_, index) => {
    const [ColorHex, ColorName] = COLOURS[index % COLOURS.length] ?? COLOURS[0];
    return {
      Name: ["Fire Engine", "2019 Falcon Interceptor", "Bullhorn Prancer", "Dump Truck"][index % 4],
      Owner: nameOf(index),
      Plate: `ABC-${100 + index}`,
      Texture: index % 3 === 0 ? null : ["Ghost", "Standard"][index % 2],
      ColorHex,
      ColorName,
    };
  });
}

export const BUSY_SERVER = {
  Name: "Riverside Roleplay",
  OwnerId: 123,
  CoOwnerIds: [124, 125],
  CurrentPlayers: PLAYERS,
  MaxPlayers: 60,
  JoinKey: "RIVERSIDE",
  AccVerifiedReq: "Phone/ID",
  TeamBalance: true,
  Players: listPlayers(),
  Staff: {
    Admins: { [idOf(1)]: nameOf(1), [idOf(2)]: nameOf(2), "77": "AwayAdmin" },
    Mods: { [idOf(3)]: nameOf(3), [idOf(4)]: nameOf(4), "78": "AwayMod" },
    Helpers: { [idOf(5)]: nameOf(5) },
  },
  Queue: [5001, 5002, 5003],
  JoinLogs: Array.from({ length: 30 }, (_, index) => ({
    Join: index % 3 !== 0,
    Timestamp: index === 0 ? NEWEST_ENTRY_SECONDS : ago(index * 7 + 0.5),
    Player: refOf(index),
  })),
  KillLogs: Array.from({ length: 20 }, (_, index) => ({
    Killed: refOf(index + 1),
    Timestamp: ago(index * 90 + 2),
    // This kill has no killer.
    ...(index !== 4 && { Killer: refOf(index) }),
  })),
  CommandLogs: Array.from({ length: 20 }, (_, index) => ({
    Player: index % 5 === 0 ? "Remote Server" : refOf(index % 4),
    Timestamp: ago(index * 11 + 3),
    Command: [":h Welcome to Riverside", ":m Keep it civil", ":kick BlueHeron", ":tp me CopperFox"][index % 4],
  })),
  ModCalls: Array.from({ length: 8 }, (_, index) => ({
    Caller: refOf(index + 6),
    Moderator: index % 2 === 0 ? null : refOf(3),
    // A call waits for an hour at most, and the tests may reach this one half an hour after the start.
    Timestamp: ago(index * 4 + 3),
  })),
  EmergencyCalls: Array.from({ length: 6 }, (_, index) => ({
    Team: ["Police", "Fire", "Sheriff", "DOT"][index % 4],
    // The player with the long id is on the server; 999 is not.
    Caller: index === 5 ? 999 : index % 2 === 0 ? Number(idOf(index)) : { rawId: idOf(index) },
    Players: index === 0 ? [] : [Number(idOf(2)), 999].slice(0, (index % 2) + 1),
    Position: [-600 + index * 200, 666.5 - index * 150],
    StartedAt: ago(index * 4 + 1),
    CallNumber: 400 + (index % 4),
    Description: ["Car crash", "Building on fire", "Shots fired", "Road blocked"][index % 4],
    PositionDescriptor: `Near ${STREETS[index % STREETS.length]}`,
  })),
  Vehicles: listVehicles(),
};

/** Serialises a state, with ids as numbers that a double cannot hold. */
export function writeGameJson(state: object): string {
  return JSON.stringify(state).replaceAll(/\{"rawId":"(\d+)"\}/g, "$1");
}

export const EMPTY_SERVER = {
  ...BUSY_SERVER,
  CurrentPlayers: 0,
  Players: [],
  // The game API sends an empty map as a list.
  Staff: [],
  Queue: [],
  JoinLogs: [],
  KillLogs: [],
  CommandLogs: [],
  ModCalls: [],
  EmergencyCalls: [],
  Vehicles: [],
};

/** A few entries of everything, for slow checks. */
export const SMALL_SERVER = {
  ...BUSY_SERVER,
  CurrentPlayers: 8,
  Players: BUSY_SERVER.Players.slice(0, 8),
  JoinLogs: BUSY_SERVER.JoinLogs.slice(0, 3),
  KillLogs: BUSY_SERVER.KillLogs.slice(3, 6),
  CommandLogs: BUSY_SERVER.CommandLogs.slice(0, 3),
  ModCalls: BUSY_SERVER.ModCalls.slice(0, 2),
  EmergencyCalls: BUSY_SERVER.EmergencyCalls.slice(0, 2),
  Vehicles: BUSY_SERVER.Vehicles.slice(0, 5),
};

// Fifty names that try to be more than text. Code in a name sets `window.hostile` when it runs.

const RUN = "window.hostile=1";
/** A request to this host fails the test. */
const EVIL = "https://evil.example/x";

export const HOSTILE_NAMES: readonly string[] = [
  `<script>${RUN}</script>`,
  `<script src="${EVIL}.js"></script>`,
  `<ScRiPt>${RUN}</sCrIpT>`,
  `</script><script>${RUN}</script>`,
  `</title><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `"><script>${RUN}</script>`,
  `'><script>${RUN}</script>`,
  `--><script>${RUN}</script>`,
  `]]><script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="${EVIL}.png">`,
  `<svg onload="${RUN}">`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s>`,
  `<math><mtext><img src=x onerror="${RUN}"></mtext></math>`,
  `<iframe srcdoc="<script>parent.hostile=1</script>"></iframe>`,
  `<iframe src="javascript:parent.hostile=1"></iframe>`,
  `<object data="${EVIL}"></object>`,
  `<embed src="${EVIL}">`,
  `<body onload="${RUN}">`,
  `<details open ontoggle="${RUN}">`,
  `<input autofocus onfocus="${RUN}">`,
  `<video><source onerror="${RUN}"></video>`,
  `<link rel=stylesheet href="${EVIL}.css">`,
  `<style>@import "${EVIL}.css";</style>`,
  `<base href="${EVIL}/">`,
  `<meta http-equiv=refresh content="0;url=${EVIL}">`,
  `<form action="${EVIL}"><button>x</button></form>`,
  `<a href="javascript:${RUN}">click</a>`,
  `javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `" onmouseover="${RUN}" x="`,
  `' onfocus='${RUN}' autofocus='`,
  `red;background:url(${EVIL})`,
  `#fff;background-image:url(${EVIL})`,
  `\${${RUN}}`,
  `{{constructor.constructor("${RUN}")()}}`,
  "{{n}} $t(shell:signOut) {{count}}",
  "<0>bold</0> <1/> &lt;script&gt; &#x3c;script&#x3e;",
  "__proto__",
  "constructor",
  "\u202Egnp.exe\u202D admin",
  "\u2066\u2067\u2068 isolated and never closed",
  "Admin\u200B\u200C\u200D\u2060\uFEFF",
  "\u0000\u0007\u001B[31mred\u009F\r\nsecond line\tand tab",
  `Zalgo ${"Z\u0335\u0351\u0352\u0308\u0349".repeat(8)}`,
  "﷽﷽﷽ مرحبا שלום \u{1F468}\u200D\u{1F469}\u200D\u{1F467}",
  "a:b:c::123:",
  "W".repeat(10_240),
];

/** The same names as labels of servers and keys: at most a hundred characters, no control characters. */
export const HOSTILE_LABELS: readonly string[] = HOSTILE_NAMES.map((name) =>
  name.replaceAll(/\p{Cc}/gu, "").slice(0, 100),
);

function pick(index: number): string {
  return HOSTILE_NAMES[index % HOSTILE_NAMES.length] ?? "";
}

function refOf(index: number): string {
  return `${pick(index)}:${70_000 + index}`;
}

/** A server state with every name in every text field. */
export function makeHostileServer() {
  const now = Math.floor(Date.now() / 1000);
  const each = <T>(make: (index: number) => T): T[] => HOSTILE_NAMES.map((_, index) => make(index));
  const oddTimes = [now, 0, -1, 9_007_199_254_740_991, 253_402_300_800_000];
  const timeOf = (index: number) => (index % 7 === 0 ? oddTimes[(index / 7) % oddTimes.length] : now - index * 1_000);
  return {
    Name: pick(0),
    OwnerId: 1,
    CoOwnerIds: [2],
    CurrentPlayers: HOSTILE_NAMES.length,
    MaxPlayers: 60,
    JoinKey: pick(10),
    AccVerifiedReq: pick(11),
    TeamBalance: true,
    Players: each((index) => ({
      Team: pick(index + 1),
      Player: refOf(index),
      Callsign: pick(index + 2),
      Location: {
        LocationX: index * 10 - 250,
        LocationZ: 250 - index * 10,
        PostalCode: pick(index + 3),
        StreetName: pick(index + 4),
        BuildingNumber: pick(index + 5),
      },
      Permission: pick(index + 6),
      WantedStars: index % 9 === 0 ? 1_000_000_007 : index % 6,
    })),
    Staff: {
      Admins: Object.fromEntries(each((index) => [String(70_000 + index), pick(index)])),
      Mods: { "80000": pick(0), "80001": pick(10) },
      Helpers: { "90000": pick(1), "90001": pick(11) },
    },
    Queue: [1, 2, 3],
    JoinLogs: each((index) => ({ Join: index % 2 === 0, Timestamp: timeOf(index), Player: refOf(index) })),
    KillLogs: each((index) => ({
      Killed: refOf(index),
      Timestamp: timeOf(index),
      Killer: refOf(index + 1),
    })),
    CommandLogs: each((index) => ({
      Player: pick(index),
      Timestamp: timeOf(index),
      Command: pick(index + 1),
    })),
    ModCalls: each((index) => ({
      Caller: refOf(index),
      Moderator: index % 2 === 0 ? null : pick(index),
      Timestamp: timeOf(index),
    })),
    EmergencyCalls: each((index) => ({
      Team: pick(index),
      Caller: 70_000 + index,
      Players: [70_000 + index, 70_001 + index, 3, 4, 5, 6, 7],
      Position: [index * 10 - 250, index * 5],
      StartedAt: timeOf(index),
      CallNumber: index,
      Description: pick(index + 1),
      PositionDescriptor: pick(index + 2),
    })),
    Vehicles: each((index) => ({
      Name: pick(index),
      Owner: pick(index + 1),
      Plate: pick(index + 2),
      Texture: pick(index + 3),
      ColorHex: index % 2 === 0 ? pick(index + 4) : "#12aBef",
      ColorName: pick(index + 5),
    })),
  };
}

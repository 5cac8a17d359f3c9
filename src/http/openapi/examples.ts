// The example bodies of the document. All values are invented, and they are consistent with each other.
import { DAY_MS, HOUR_MS } from "../../core/durations.ts";

const queuedAt = 1_794_722_314_688;
const commandId = "cmd_zRH77T5ZugEUB3g6rBBK";
const serverId = "srv_5tqX0PpV3mYbL1nKcD7w";
const keyId = "key_0Ka4qbuWLQDNnkIAG3EZ";
const deviceId = "dev_9fWc2LrT6yQxB4mHsZ1k";
const token = "gth_EXAMPLEonlyEXAMPLEonlyEXAMPLE0000000";
const facadeKey = "gthEXAMPLEonlyEXAMPLEonlyEXAMPLE0000000-srv5tqX0PpV3mYbL1nKcD7w";

export const SERVER_INFO = {
  Name: "Cedar County State Roleplay",
  OwnerId: 2_890_053_314,
  CoOwnerIds: [7_146_175_597],
  CurrentPlayers: 24,
  MaxPlayers: 40,
  JoinKey: "OliveComet",
  AccVerifiedReq: "Disabled",
  TeamBalance: true,
};

export const SECTION_EXAMPLES = {
  Players: [
    {
      Team: "Police",
      Player: "WindyWillow821:2686120778",
      Callsign: "2L-14",
      Location: {
        LocationX: 1084.965,
        LocationZ: 2302.28,
        PostalCode: "218",
        StreetName: "Park Street",
        BuildingNumber: "2083",
      },
      Permission: "Server Moderator",
      WantedStars: 0,
    },
    { Team: "Civilian", Player: "QuietHarbor:1184420", Callsign: null, Permission: "Normal", WantedStars: 2 },
  ],
  Staff: { Admins: { "7146175597": "AmberFox" }, Mods: { "2686120778": "WindyWillow821" }, Helpers: {} },
  JoinLogs: [{ Join: true, Timestamp: 1_794_722_200, Player: "QuietHarbor:1184420" }],
  Queue: [3_310_077_421],
  KillLogs: [
    { Killed: "QuietHarbor:1184420", Timestamp: 1_794_722_260, Killer: "WindyWillow821:2686120778" },
  ],
  CommandLogs: [
    { Player: "WindyWillow821:2686120778", Timestamp: 1_794_722_270, Command: ":h Drive carefully" },
  ],
  ModCalls: [{ Caller: "QuietHarbor:1184420", Moderator: null, Timestamp: 1_794_722_280 }],
  EmergencyCalls: [
    {
      Team: "Police",
      Caller: 1_184_420,
      Players: [2_686_120_778],
      Position: [-654.6, 666.5],
      StartedAt: 1_794_722_290,
      CallNumber: 400,
      Description: "Robbery",
      PositionDescriptor: "Near the bank",
    },
  ],
  Vehicles: [
    {
      Name: "Patrol Sedan",
      Owner: "WindyWillow821",
      Texture: "Standard",
      ColorHex: "#1F3A93",
      ColorName: "Deep Blue",
    },
  ],
};

export const EVENT_PAGE = {
  items: [
    {
      id: "AAAAAAGJh1xvK2m3x5XmQm1c",
      type: "player.joined",
      at: 1_794_722_200_000,
      seen_at: 1_794_722_203_518,
      source: "log",
      backfill: false,
      data: SECTION_EXAMPLES.JoinLogs[0],
    },
    {
      id: "AAAAAAGKnV4QK2m3x6Bq0Yc9",
      type: "player.changed",
      at: 1_794_722_208_604,
      seen_at: 1_794_722_208_604,
      source: "diff",
      backfill: false,
      data: SECTION_EXAMPLES.Players[1],
      meta: { before: { WantedStars: 0 } },
    },
  ],
  next: "AAAAAAGKnV4QK2m3x6Bq0Yc9",
  has_more: false,
};

export const EVENT_STREAM = [
  "retry: 2000",
  "id: AAAAAAGJh1xuK2m3x5XmQm1c",
  "event: hello",
  'data: {"cursor":"AAAAAAGJh1xuK2m3x5XmQm1c","server_time":1794722198002}',
  "",
  `id: ${EVENT_PAGE.items[0]?.id}`,
  "event: player.joined",
  `data: ${JSON.stringify(EVENT_PAGE.items[0])}`,
  "",
  "",
].join("\n");

export const GAP_PAGE = {
  items: [
    {
      id: "AAAAAAGLc0aHK2m3x2lUe7vQ",
      type: "gap",
      at: 1_794_722_360_271,
      seen_at: 1_794_722_360_271,
      source: "gateway",
      backfill: false,
      data: {
        section: "KillLogs",
        reason: "no_overlap",
        from: 1_794_722_260_000,
        to: 1_794_722_331_000,
      },
    },
  ],
  next: "AAAAAAGLc0aHK2m3x2lUe7vQ",
  has_more: true,
};

export const RECEIPT = { command_id: commandId, status: "queued", position: 3, queued_at: queuedAt };

export const QUEUED_COMMAND = {
  command_id: commandId,
  key_id: keyId,
  key_label: "Discord bot",
  command: ":h The event starts in ten minutes",
  status: "queued",
  position: 3,
  queued_at: queuedAt,
  sent_at: null,
  finished_at: null,
  confirmed_at: null,
  upstream_code: null,
  upstream_message: null,
};

export const SENT_COMMAND = {
  ...QUEUED_COMMAND,
  status: "sent",
  position: null,
  sent_at: queuedAt + 3,
  finished_at: queuedAt + 57,
  confirmed_at: queuedAt + 6_175,
};

export const FAILED_COMMAND = {
  ...QUEUED_COMMAND,
  status: "failed",
  position: null,
  sent_at: queuedAt + 3,
  finished_at: queuedAt + 57,
  upstream_code: 3002,
  upstream_message: "The server is offline.",
};

export const CANCELLED_COMMAND = {
  ...QUEUED_COMMAND,
  status: "cancelled",
  position: null,
  finished_at: queuedAt + 2_000,
};

export const OWNED_COMMAND = withOwner(SENT_COMMAND);
export const OWNED_CANCELLED_COMMAND = withOwner(CANCELLED_COMMAND);

export const SERVER = {
  server_id: serverId,
  name: "Cedar County",
  community: "cedar",
  created_at: 1_794_700_000_000,
  simulated: false,
  watch: true,
  public_status: { slug: "cedar", show_join_key: false } as { slug: string; show_join_key: boolean } | null,
  state: "online",
  players: SERVER_INFO.CurrentPlayers,
  max_players: SERVER_INFO.MaxPlayers,
  queue: 3,
  open_modcalls: 1,
  open_calls: 2,
  last_read_at: 1_794_722_320_863,
  last_error: null,
  watching: {
    state: "watching",
    interval_ms: 5_000,
    last_reading_at: 1_794_722_320_863,
    reason: null as string | null,
  },
};

export const NEW_SERVER = {
  ...SERVER,
  state: "not_asked",
  players: null,
  max_players: null,
  queue: null,
  open_modcalls: null,
  open_calls: null,
  last_read_at: null,
  watching: { ...SERVER.watching, last_reading_at: null },
};

export const BROKEN_SERVER = {
  ...SERVER,
  state: "key_refused",
  last_error: {
    at: 1_794_722_380_114,
    upstream_code: 2002,
    upstream_message: "You provided an invalid server-key.",
  },
  watching: {
    ...SERVER.watching,
    state: "paused",
    reason: "The game API has refused the server's key; set it anew.",
  },
};

export const KEY = {
  key_id: keyId,
  server_id: serverId,
  label: "Discord bot",
  state: "active",
  versions: ["v2"],
  sections: ["Players", "Queue"],
  commands: [":h", ":m"],
  ip_allow: ["203.0.113.7"],
  expires_at: null,
  suspended: false,
  created_at: 1_794_700_060_000,
  last_used_at: 1_794_722_320_863,
  revoked_at: null,
};

export const OWN_KEY = {
  key_id: keyId,
  label: KEY.label,
  server_id: serverId,
  server_name: SERVER.name,
  community: SERVER.community,
  versions: KEY.versions,
  sections: KEY.sections,
  commands: KEY.commands,
  expires_at: null,
};

export const BARE_OWN_KEY = { ...OWN_KEY, sections: [], commands: [], expires_at: 1_797_314_314_688 };

export const NEW_KEY = { ...KEY, last_used_at: null, token, facade_key: facadeKey };

export const SHOWN_KEY = {
  ...KEY,
  grace_tokens: [{ valid_until: 1_794_725_914_688 }],
  usage: {
    requests: 812,
    refusals: { "5016": 12 },
    hours: [{ hour: 1_794_720_000_000, requests: 812, refusals: { "5016": 12 } }],
  },
};

export const ROTATION = {
  key_id: keyId,
  token,
  facade_key: facadeKey,
  old_token_valid_until: 1_794_725_914_688,
};

export const BLOCK = {
  key_id: keyId,
  server_id: serverId,
  label: "Discord bot",
  blocked_until: 1_794_722_614_688,
};

export const UPSTREAM = {
  paused_until: 1_794_725_914_000,
  paused_since: 1_794_722_314_000,
  pause_reason: "named_by_game_api",
  resumed_at: null,
  limit: 35,
  remaining: 0,
  reset_at: 1_794_722_374_000,
  global_key_refused: false,
  failing_servers: 0,
  refused_keys: 0,
};

export const AUDIT_ENTRY = {
  id: "aud_2",
  at: 1_794_721_661_197,
  action: "key.changed",
  actor: { fingerprint: "c9543c00", address: "127.0.0.1" },
  target: keyId,
  details: { before: { suspended: false }, after: { suspended: true } },
};

export const METRICS = `# HELP gatehouse_requests_total Answers by route, status and error code (0: none).
# TYPE gatehouse_requests_total counter
gatehouse_requests_total{route="/v2/game/server",status="200",code="0"} 812
`;

function withOwner({ command_id, ...rest }: { readonly command_id: string }) {
  return { command_id, server_id: serverId, ...rest };
}

const monthMs = 30 * DAY_MS;

export const DEVICE = {
  device_id: deviceId,
  created_at: queuedAt - HOUR_MS,
  last_used_at: queuedAt,
  expires_at: queuedAt - HOUR_MS + monthMs,
  description: "Firefox, Windows",
};

export const SESSION = {
  token: `gts_${"EXAMPLEonly".repeat(7).slice(0, 72)}`,
  expires_at: queuedAt + 900_000,
  expires_in: 900,
  key_id: keyId,
  device_id: deviceId,
  device_expires_at: DEVICE.expires_at,
};

export const LINK = {
  url: "https://gatehouse.example.org/#/link/gtl_EXAMPLEonlyEXAMPLEonlyEXAMPLEonlyEXAMPLEonly0",
  expires_at: queuedAt + 600_000,
};

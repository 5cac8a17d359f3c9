// Game servers in the admin API. In the schema of a request, a field's description completes the error message for a
// wrong value.
import Type from "typebox";
import { COMMUNITY_SHAPE, SERVER_KEY_SHAPE, STATUS_SLUG_SHAPE } from "../game-server.ts";
import { bodyOf, Count, EpochMs, orNull, ServerId, type Static, time, visibleText, YesOrNo } from "./values.ts";

export const SERVER_STATES = [...["online", "offline", "unreachable", "key_refused", "not_asked", "parked"]] as const;

export const WATCH_STATES = ["off", "paused", "watching"] as const;

export const WatchingResource = Type.Object({
  state: Type.Enum([...WATCH_STATES], {
    description:
      "off (watch is false, GATEHOUSE_WATCH is off, or there is no archive), paused (nothing is read for now: a pause, a breaker, a refused key, a parked server, or no calls to spare), or watching",
  }),
  interval_ms: orNull(
    Type.Integer({ minimum: 1 }),
    "How often the server is read, in milliseconds. Longer than configured when the budget of calls does not carry more; null when it is off, or when there are no calls to spare",
  ),
  last_reading_at: orNull(
    EpochMs,
    "When the last good reading was made, by anybody, in epoch milliseconds; null for none",
  ),
  reason: orNull(Type.String(), "A sentence that says why it is off or paused; null while watching"),
});
export type WatchingResource = Static<typeof WatchingResource>;

const CommunityName = Type.String({ pattern: COMMUNITY_SHAPE.source });

const StatusSlug = Type.String({ pattern: STATUS_SLUG_SHAPE.source });

export const PublicStatusSettings = Type.Object({
  slug: StatusSlug,
  show_join_key: Type.Boolean({ description: "Whether everybody may see the server's join key" }),
});
export type PublicStatusSettings = Static<typeof PublicStatusSettings>;

export const ServerResource = Type.Object({
  server_id: ServerId,
  name: Type.String(),
  community: orNull(CommunityName, "The segment of its paths; null accepts any"),
  created_at: time("When it was added"),
  simulated: Type.Boolean({
    description: "Whether it belongs to the built-in simulator; false for servers of a real game API",
  }),
  watch: Type.Boolean({ description: "Whether Gatehouse is to read it unasked, to record what happens there" }),
  public_status: orNull(
    PublicStatusSettings,
    "What everybody may see at /status/<slug>; null when nothing of the server is public",
  ),
  owners_sign_in: Type.Boolean({
    description: "Whether its owner and co-owners may sign in as its managers without an invitation",
  }),
  state: Type.Enum([...SERVER_STATES], {
    description:
      "By the latest reading: online, offline, unreachable (the reading failed), key_refused (the game API refuses its key), not_asked (no reading yet since the start), or parked (made for another upstream than the one in use: nothing is asked)",
  }),
  players: orNull(Count, "Players of the last good reading, 0 when it was offline; null when there is none"),
  max_players: orNull(Count, "How many can play, by the last reading that says so; null when there is none"),
  queue: orNull(
    Count,
    "How many wait to join, by the last good reading, 0 when it was offline; null when there is none",
  ),
  open_modcalls: orNull(
    Count,
    "Calls for a moderator of the last hour that nobody has answered and whose callers are there, by the last good reading, 0 when it was offline; null when there is none",
  ),
  open_calls: orNull(
    Count,
    "Emergency calls, by the last good reading, 0 when it was offline; null when there is none",
  ),
  last_read_at: orNull(EpochMs, "When the last good reading was made, in epoch milliseconds; null for none"),
  last_error: orNull(
    Type.Object({
      at: time("When the reading failed"),
      upstream_code: Type.Integer({ description: "The game API's code; 0 when it gave none" }),
      upstream_message: Type.String(),
    }),
    "What the latest reading failed with; null after a good one",
  ),
  watching: WatchingResource,
  day: Type.Optional(
    Type.Array(Type.Union([Count, Type.Null()]), {
      description:
        "With `day=true`: the most players in each of the last 24 hours, oldest first, the hour that is not over last; null for an hour without readings",
    }),
  ),
});
export type ServerState = (typeof SERVER_STATES)[number];
export type ServerResource = Static<typeof ServerResource>;

export const DeletedServerResource = Type.Object({
  revoked_keys: Type.Integer({ minimum: 0, description: "How many keys were revoked with it" }),
  failed_commands: Type.Integer({ minimum: 0, description: "How many waiting commands were given up" }),
});
export type DeletedServerResource = Static<typeof DeletedServerResource>;

const ServerKey = Type.String({
  maxLength: 512,
  pattern: SERVER_KEY_SHAPE.source,
  description: "must be a server key of the game API: letters and digits, a hyphen, letters and digits",
});

export const NewServer = bodyOf({
  name: visibleText("a name"),
  server_key: ServerKey,
  community: Type.Optional(orNull(CommunityName, "must be 1 to 64 letters, digits, _ or -, or null")),
  watch: Type.Optional(YesOrNo),
  owners_sign_in: Type.Optional(YesOrNo),
  public_status: Type.Optional(
    orNull(
      bodyOf({ slug: StatusSlug, show_join_key: Type.Optional(Type.Boolean()) }),
      "must be null, or an object with slug (1 to 64 small letters, digits and hyphens, no hyphen at its ends) and, if you like, show_join_key (true or false)",
    ),
  ),
});
export type NewServer = Static<typeof NewServer>;

export const ServerChange = Type.Partial(NewServer, { additionalProperties: false });
export type ServerChange = Static<typeof ServerChange>;

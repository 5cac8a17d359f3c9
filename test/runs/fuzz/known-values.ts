// Values that mean something to an operation, by the name of the field or parameter.
import type { Random } from "../../../src/simulator/random.ts";
import { makeCommand } from "../../signed-hooks.ts";
import type { FuzzedOperation } from "./operations.ts";
import { type FindValue, letters } from "./values.ts";
import { type Owned, SECRET_MARK, type Session, type World } from "./world.ts";

const HISTORY_MS = 3_600_000;
const COMMANDS = [":h hello", ":m round two", ":kick nobody", ":log x", ":pm x hello", "no command"];
/** Nobody outside this machine is called. */
const REFUSED_URLS = ["http://127.0.0.1:1/", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "http://", "javascript:1"];

/** What a request is about. */
export type Subject = {
  readonly operation: FuzzedOperation;
  readonly owned: Owned | undefined;
  readonly session: Session | undefined;
};

/** `receiverUrl`: where webhooks may be sent to. */
export function knowValues(
  random: Random,
  world: World,
  receiverUrl: string,
  { operation, owned, session }: Subject,
): FindValue {
  const isReading = operation.method === "GET";
  // A picture can be removed only where there is one.
  const isAtHome = isReading || operation.id.endsWith("ServerMapImage");
  const home = () => random.pick(world.homes);
  const values: Readonly<Record<string, () => unknown>> = {
    community: () => world.community,
    server_id: () => (isAtHome && random.chance(0.8) ? home().serverId : takeFrom(world, "server", operation)),
    key_id: () => takeFrom(world, "key", operation),
    command_id: () => owned?.ids.command_id,
    note_id: () => owned?.ids.note_id,
    call_id: () => owned?.ids.call_id,
    webhook_id: () => takeFrom(world, "webhook", operation),
    person_id: () => takeFrom(world, "person", operation),
    session_id: () => session?.sessionId,
    is_operator: () => random.chance(0.9),
    disabled: () => random.chance(0.1),
    servers: () => (random.chance(0.5) ? [] : [{ server_id: home().serverId, role: "viewer" }]),
    role: () => random.pick(["viewer", "trial", "moderator", "head", "manager"]),
    entry_id: () => world.find("entry"),
    player: () => String(random.integer(1, 1_000_000)),
    player_id: () => owned?.ids.player_id ?? String(random.integer(1, 1_000_000)),
    slug: () => (isReading ? home().slug : `s-${letters(random, 12).toLowerCase()}`),
    file: () => random.pick(["start.js", "scalar.js", "index.js", "main.css"]),
    name: () => `Made ${letters(random, 10)}`,
    label: () => `made ${letters(random, 10)}`,
    server_key: () => `made${letters(random, 6)}-${SECRET_MARK}${letters(random, 8)}`,
    url: () => (random.chance(0.8) ? receiverUrl : random.pick(REFUSED_URLS)),
    secret: () => world.take("invitation"),
    command: () => `${random.pick(COMMANDS)} ${letters(random, 6)}`,
    ip_allow: () => (random.chance(0.5) ? [] : ["10.0.0.0/8", "::1"]),
    expires_at: () => (random.chance(0.5) ? null : Date.now() + HISTORY_MS),
    types: () => makeTypes(random, isReading),
    "commands[]": () => random.pick(["*", ":h", ":m"]),
    after: () => (isReading ? random.pick(["now", "earliest", world.find("cursor") ?? "now"]) : "now"),
    before: () => world.find("cursor") ?? "now",
    last_event_id: () => world.find("cursor") ?? "",
    "Last-Event-ID": () => world.find("cursor") ?? "",
    cursor: () => world.find("page"),
    "If-None-Match": () => world.find("etag") ?? '"x"',
    wait: () => (random.chance(0.02) ? 1 : 0),
    from: () => Date.now() - HISTORY_MS - random.integer(0, HISTORY_MS),
    to: () => Date.now() - random.integer(0, HISTORY_MS / 2),
    tz: () => random.pick(["UTC", "Europe/Berlin", "America/Chicago"]),
    left: () => -random.integer(1, 1_000),
    top: () => -random.integer(1, 1_000),
    right: () => random.integer(1, 1_000),
    bottom: () => random.integer(1, 1_000),
    server: () => home().hookName,
    events: () => [makeCommand(Date.now())],
    public_status: () => (random.chance(0.8) ? null : { slug: `s-${letters(random, 12).toLowerCase()}` }),
  };
  return (name) => (Object.hasOwn(values, name) ? values[name]?.() : undefined);
}

/** The pool of what belongs to one of the servers that stay: a command, a note, a player or a call. */
export function poolOfOwned({ template }: FuzzedOperation): string | undefined {
  const id = /\{(command|note|call)_id\}/.exec(template) ?? /\/game\/server\/.*\{(player)_id\}/.exec(template);
  return id?.[1];
}

/** One of the pool; what a deletion gets is not given out again. */
export function takeFrom<T>(world: World, pool: string, { method, template }: FuzzedOperation): T | undefined {
  const isDeleted = method === "DELETE" && template.endsWith(`{${pool}_id}`);
  return isDeleted ? world.take<T>(pool) : world.find<T>(pool);
}

function makeTypes(random: Random, isReading: boolean): unknown {
  const types = random.pick([["player.*"], ["player.joined", "gap"], ["server.*", "modcall.opened"]]);
  return isReading ? types.join(",") : types;
}

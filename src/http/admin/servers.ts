// /admin/servers: the game servers, and the rules of their alerts.
import Type from "typebox";
import { SUGGESTED_ALERTS } from "../../core/alerts/rules.ts";
import { HOUR_MS } from "../../core/durations.ts";
import { ERRORS, isRefusal, NOT_FOUND } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Authority } from "../../core/people/authority.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { NO_SECTIONS, type Section, toSectionSet } from "../../core/sections.ts";
import { AlertRulesResource } from "../../core/wire/alerts.ts";
import { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../../core/wire/server.ts";
import { ServerInfo } from "../../core/wire/server-info.ts";
import { readAlertRules, setAlertRules } from "../../gateway/servers/manage-alerts.ts";
import { addServer, changeServer, describeSettings, removeServer } from "../../gateway/servers/manage-servers.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { type Answer, type Examples, shows, showsEach, takes, UNCHANGED } from "../operation.ts";
import { SERVER_INFO } from "../readings/read-server.ts";
import { IF_NONE_MATCH, SECTION_PARAMETERS } from "../requests/parameters.ts";
import { oneOf } from "../requests/query-fields.ts";
import { type AdminParts, AdminSubject, describePage, needArchive, subjectOf } from "./admin-operation.ts";

/** The socket stays open this long while the keys of a deleted server are revoked: there may be a hundred thousand. */
const DELETION_MAX_MS = 120_000;
const INFO_HEADERS: readonly HeaderName[] = ["CacheControl", "ETag", "Age", "Cache", "Vary"];

const READ_AT = 1_794_722_320_863;
const WATCHING = { state: "watching", interval_ms: 5_000, last_reading_at: READ_AT, reason: null };
export const SERVER = {
  server_id: "srv_5tqX0PpV3mYbL1nKcD7w",
  name: "Cedar County",
  community: "cedar",
  created_at: 1_794_700_000_000,
  simulated: false,
  watch: true,
  public_status: { slug: "cedar", show_join_key: false },
  owners_sign_in: false,
  state: "online",
  players: SERVER_INFO.CurrentPlayers,
  max_players: SERVER_INFO.MaxPlayers,
  queue: 3,
  open_modcalls: 1,
  open_calls: 2,
  last_read_at: READ_AT,
  last_error: null,
  watching: WATCHING,
};
const UNREAD = { players: null, max_players: null, queue: null, open_modcalls: null, open_calls: null };
const NEW_SERVER = {
  ...SERVER,
  ...UNREAD,
  state: "not_asked",
  last_read_at: null,
  watching: { ...WATCHING, last_reading_at: null },
};
const BROKEN_SERVER = {
  ...SERVER,
  state: "key_refused",
  last_error: { at: 1_794_722_380_114, upstream_code: 2002, upstream_message: "You provided an invalid server-key." },
  watching: { ...WATCHING, state: "paused", reason: "The game API has refused the server's key; set it anew." },
};

const servers = subjectOf("Game servers");
const alerts = new AdminSubject({
  tag: "Game servers",
  find: (parts, id) => needArchive(id, parts, parts.alerts),
  errors: ["notFound", "notConfigured"],
});

const RULES_EXAMPLES: Examples = {
  suggested: { summary: "What suits most servers", value: SUGGESTED_ALERTS },
  players: {
    summary: "Fewer than 5 or more than 38 players for half an hour",
    value: { players: { below: 5, above: 38, minutes: 30 } },
  },
  off: { summary: "No alerts", value: {} },
};
const RULES: Answer = {
  description: "The rules. One that is absent is off.",
  schema: AlertRulesResource,
  examples: RULES_EXAMPLES,
};

export const serverOperations = {
  list: servers.list({
    id: "listServers",
    summary: "List game servers",
    description: "Oldest first. What is told about their state is what is known already: the game API is not called.",
    query: {
      day: oneOf(["true", "false"], {
        description: "Whether each server has its `day`, for a small plot. Without an archive there is none.",
        schema: Type.Boolean({ default: false }),
      }),
    },
    item: ServerResource,
    example: SERVER,
    async read(parts, page, { authority, query, now }) {
      await parts.watcher.catchUpOnAll();
      const mine = authority.listServers();
      const found = mine ? listSome(parts.store.servers, mine, page) : await parts.store.servers.list(page);
      const readDay = query.day === "true" ? await readDays(parts, found.items, now) : undefined;
      return describePage(found, (server) => ({
        ...describeServer(parts, server, authority),
        ...(readDay && { day: readDay(server) }),
      }));
    },
  }),

  create: servers.define({
    id: "createServer",
    summary: "Add a game server",
    description:
      "The game API is not called; reading the server's `info` once tests its key. Unless `watch` is false, Gatehouse reads the server from then on, the first time within one interval. The server key is stored encrypted and never shown. The server is `simulated` when Gatehouse runs on its simulator. With `public_status` everybody may see how the server is, at `/status/<slug>`; a slug belongs to one server, and one that is taken is 409.",
    body: takes(NewServer, { name: "Cedar County", server_key: "ExampleKey-ExampleSecret", community: "cedar" }),
    answers: { 201: shows("The server was added.", ServerResource, NEW_SERVER) },
    errors: ["conflict"],
    changes: "store",
    async handle(parts, { body, actor, authority, now }) {
      const created = await addServer(parts, body, actor, now);
      return isRefusal(created) ? created : describeServer(parts, created, authority);
    },
  }),

  show: servers.define({
    id: "showServer",
    summary: "Show a game server",
    answers: {
      200: showsEach("The server.", ServerResource, {
        well: ["All is well", SERVER],
        broken: ["The game API refuses its key", BROKEN_SERVER],
      }),
    },
    errors: ["notFound"],
    async handle(parts, { id, authority }) {
      const server = parts.store.servers.find(id);
      if (!server) return NOT_FOUND;
      await parts.watcher.catchUpOnAll();
      return describeServer(parts, server, authority);
    },
  }),

  readInfo: servers.define({
    id: "readServerInfo",
    summary: "Look into a game server",
    description:
      "What a caller of this server gets, with any section: the same cached reading, and at most one call to the game API. Counts against no key. A parked server is refused with 5019, `upstream_code` 0.",
    parameters: [...SECTION_PARAMETERS, IF_NONE_MATCH],
    answers: {
      200: {
        description: "The state of the server, at most as old as `Age` says.",
        headers: INFO_HEADERS,
        schema: ServerInfo,
        examples: { plain: { summary: "Without sections", value: SERVER_INFO } },
      },
      304: { description: UNCHANGED, headers: INFO_HEADERS },
    },
    errors: ["notFound", "gameApi"],
    async handle({ store, readServer }, { call, id }) {
      const server = store.servers.find(id);
      if (!server) return NOT_FOUND;
      const response = await readServer.answerOperator(call, server);
      // A caller's key ends with its server, so that is what the relay says about a server that was deleted meanwhile.
      return response.status === ERRORS.invalidToken.status ? NOT_FOUND : response;
    },
  }),

  change: servers.define({
    id: "changeServer",
    summary: "Change a game server",
    description:
      "Setting the server key, even to the same, also means: try again. It ties a parked server to the upstream in use, and fails the commands that waited for the other one. A key whose part after the hyphen differs is another game server: its events begin with a `gap`, reason `server_replaced`. A role with `status` may change `name` and `public_status`, everything else is for operators.",
    body: takes(ServerChange, { name: "Cedar County" }),
    answers: { 200: shows("The server as it is now.", ServerResource, SERVER) },
    errors: ["notFound", "conflict"],
    changes: "store",
    async handle(parts, request) {
      const { id, body, authority } = request;
      const changed = await changeServer(parts, id, body, request);
      if (isRefusal(changed)) return changed;
      if (body.server_key !== undefined) parts.retryGlobalKey();
      return describeServer(parts, changed, authority);
    },
  }),

  // Without a turn: other changes need not wait while very many keys are revoked.
  delete: servers.define({
    id: "deleteServer",
    summary: "Delete a game server",
    description:
      "Its keys are revoked, its waiting commands given up and its events deleted. Deleting again answers the same.",
    answers: { 200: shows("The server is gone.", DeletedServerResource, { revoked_keys: 2, failed_commands: 0 }) },
    errors: ["notFound"],
    async handle({ store, forgetServer, commandMeter }, { call, id, actor, now }) {
      call.extendIdleTimeout(DELETION_MAX_MS);
      try {
        const removed = await removeServer(store, id, actor, now);
        if (isRefusal(removed)) return removed;
        forgetServer(id);
        commandMeter.count("failed", removed.failedCommands);
        return { revoked_keys: removed.revokedKeys, failed_commands: removed.failedCommands };
      } finally {
        call.resetIdleTimeout();
      }
    },
  }),

  showAlerts: alerts.define({
    id: "showAlertRules",
    summary: "Show the rules of alerts",
    answers: { 200: RULES },
    async handle(managed, { id }) {
      const found = await readAlertRules(managed, id);
      return isRefusal(found) ? found : found.rules;
    },
  }),

  setAlerts: alerts.define({
    id: "setAlertRules",
    summary: "Set the rules of alerts",
    description:
      "Replaces all rules: one that is absent is off, and all are off at first. A rule counts from now on; one that is changed or switched off while its alert is raised clears it. Alerts are the events `alert.raised` and `alert.cleared`, so streams and webhooks carry them. An alert is raised once until it clears.",
    body: { schema: AlertRulesResource, isRequired: true, examples: RULES_EXAMPLES },
    answers: { 200: RULES },
    changes: "archive",
    async handle(managed, { id, body, actor, now }) {
      const set = await setAlertRules(managed, id, body, actor, now);
      return isRefusal(set) ? set : set.rules;
    },
  }),
};

/** Oldest first, of these servers only. */
function listSome(
  servers: Pick<ServerStore, "find">,
  serverIds: readonly string[],
  { limit, cursor }: PageRequest,
): Page<GameServer> {
  const positionOf = ({ createdAt, serverId }: GameServer) => `${String(createdAt).padStart(16, "0")} ${serverId}`;
  const found = serverIds.flatMap((serverId) => servers.find(serverId) ?? []);
  const sorted = found.toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
  const rest = sorted.filter((server) => cursor === undefined || positionOf(server) > cursor);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rest.length > limit && last ? positionOf(last) : null };
}

/** Undefined without an archive. */
async function readDays({ history }: AdminParts, servers: readonly GameServer[], now: number) {
  if (!history) return undefined;
  const from = Math.floor(now / HOUR_MS) * HOUR_MS - 23 * HOUR_MS;
  const ids = servers.map(({ serverId }) => serverId);
  const hours = await history.readHours(ids, { from, to: now });
  return ({ serverId }: GameServer) => {
    const peaks = new Map(hours.get(serverId)?.map(({ at, max }) => [at, max]));
    return Array.from({ length: 24 }, (_, hour) => peaks.get(from + hour * HOUR_MS) ?? null);
  };
}

/** Counts of sections that the reader may not read are not known to it. */
function describeServer(
  { relay, watcher }: Pick<AdminParts, "relay" | "watcher">,
  server: GameServer,
  authority: Authority,
): ServerResource {
  const { name, community, ...settings } = describeSettings(server);
  const { counts, lastError, ...summary } = relay.summarize(server);
  const sections = authority.findRights(server.serverId)?.sections ?? NO_SECTIONS;
  const ifReadable = (section: Section, count: number | null) => (sections & toSectionSet([section]) ? count : null);
  return {
    server_id: server.serverId,
    name,
    community,
    created_at: server.createdAt,
    simulated: server.isSimulated,
    ...settings,
    state: summary.state,
    players: counts.players,
    max_players: counts.playersMax,
    queue: ifReadable("Queue", counts.queue),
    open_modcalls: ifReadable("ModCalls", counts.openModCalls),
    open_calls: ifReadable("EmergencyCalls", counts.openCalls),
    last_read_at: summary.lastReadAt,
    last_error: lastError && {
      at: lastError.at,
      upstream_code: lastError.failure.code,
      upstream_message: lastError.failure.message,
    },
    watching: watcher.describe(server),
  };
}

// The rest of the admin API: spam blocks, players to forget, the commands of all servers, and the game API's budget.
import type { Command } from "../../core/commands/command.ts";
import { isRefusal, NOT_FOUND, refuseField } from "../../core/errors.ts";
import { OwnedCommandResource } from "../../core/wire/command.ts";
import { BlockResource } from "../../core/wire/key.ts";
import { UpstreamResource } from "../../core/wire/upstream.ts";
import { cancelCommand, readSenderLabels } from "../../gateway/commands/manage-commands.ts";
import { liftBlock, listBlocks } from "../../gateway/keys/manage-keys.ts";
import { resumeUpstream, showUpstream, type UpstreamDeps } from "../../gateway/readings/manage-upstream.ts";
import { CANCELLED_COMMAND, describeCommand, SENT_COMMAND, STATUS } from "../commands.ts";
import { shows } from "../operation.ts";
import { OF_SERVER } from "../requests/parameters.ts";
import { type AdminParts, describePage, subjectOf } from "./admin-operation.ts";
import { KEY } from "./keys.ts";
import { SERVER } from "./servers.ts";

const { key_id, server_id, label } = KEY;
const BLOCK = { key_id, server_id, label, blocked_until: 1_794_722_614_688 };
const OWNED = { server_id: SERVER.server_id };
const UPSTREAM = {
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
const UNPAUSED = { paused_until: null, paused_since: null, pause_reason: null, resumed_at: 1_794_723_000_000 };
const others = subjectOf("Blocks, commands, audit");

export const blockOperations = {
  list: others.list({
    id: "listBlocks",
    summary: "List spam blocks",
    description: "Those in force.",
    item: BlockResource,
    example: BLOCK,
    read: ({ store }, page, request) => listBlocks(store, page, request),
  }),

  lift: others.define({
    id: "liftBlock",
    summary: "Lift a spam block",
    description: "The key starts over with a fresh window. Without a block nothing changes.",
    answers: { 204: { description: "The key is not blocked." } },
    errors: ["notFound"],
    changes: "store",
    handle: (parts, request) => liftBlock(parts, request.id, request),
  }),
};

export const playerOperations = {
  forget: others.define({
    id: "forgetPlayer",
    summary: "Forget a player",
    description:
      "Takes a player out of the events of all servers, for good: `Name:id` becomes `deleted:0`, an id 0 and a name `deleted`, also where they stand as a word in commands and descriptions. The events stay, and so do cursors; an entry that the game still shows is not recorded again. No event and no gap comes of it. Finished commands are treated alike; one that still waits is sent as it was accepted, and treated afterwards. Forgetting again answers the same. A ledger with millions of events may take longer than the answer; the rest is done in the background, also after a restart. After 503 it is not certain: ask again. The audit log does not name the player. Backups that were made before still have the player, and so has a PostgreSQL until it vacuums.",
    answers: { 204: { description: "The player is forgotten." } },
    errors: ["invalidRequest"],
    async handle({ forgetting }, { id, actor }) {
      if (!/^[0-9]+$/.test(id)) return refuseField("id", "must be digits");
      await forgetting.forget(id, actor);
      return undefined;
    },
  }),
};

export const anyCommandOperations = {
  list: others.list({
    id: "listAllCommands",
    summary: "List commands",
    description: "Newest first.",
    query: { server_id: OF_SERVER, status: STATUS },
    item: OwnedCommandResource,
    example: { ...SENT_COMMAND, ...OWNED },
    async read({ store }, page, { query: { server_id: serverId, status }, authority }) {
      const found = await store.commands.list({ ...page, ...authority.narrow("keys", serverId), status });
      const labels = await readSenderLabels(store.keys, found.items);
      return describePage(found, (command) => describeOwnedCommand(command, labels));
    },
  }),

  show: others.define({
    id: "showAnyCommand",
    summary: "Show a command",
    answers: { 200: shows("The command.", OwnedCommandResource, { ...SENT_COMMAND, ...OWNED }) },
    errors: ["notFound"],
    async handle(parts, { id }) {
      const command = await parts.store.commands.find(id);
      return command ? describeStoredCommand(parts, command) : NOT_FOUND;
    },
  }),

  cancel: others.define({
    id: "cancelAnyCommand",
    summary: "Cancel a command that still waits",
    answers: { 200: shows("It will not be sent.", OwnedCommandResource, { ...CANCELLED_COMMAND, ...OWNED }) },
    errors: ["notFound", "conflict"],
    changes: "store",
    async handle(parts, { id, actor, now }) {
      const cancelled = await cancelCommand(parts.store.commands, parts.commandMeter, id, actor, now);
      return isRefusal(cancelled) ? cancelled : describeStoredCommand(parts, cancelled);
    },
  }),
};

export const upstreamOperations = {
  show: others.define({
    id: "showUpstream",
    summary: "Show the budget of the game API",
    description: "How many calls are left, and whether they are paused after a 429. The game API is not called.",
    answers: { 200: shows("The budget.", UpstreamResource, UPSTREAM) },
    handle: (parts, { now }) => showUpstream(toUpstreamDeps(parts), now),
  }),

  resume: others.define({
    id: "resumeUpstream",
    summary: "End a pause of the game API",
    description:
      "For every server, on every instance. Calls during a limit can lead to a ban of the address: do this only when you know that the limit is over. Without a pause nothing changes. The body is not read.",
    answers: { 200: shows("The budget, without a pause.", UpstreamResource, { ...UPSTREAM, ...UNPAUSED }) },
    changes: "store",
    handle: (parts, { actor, now }) => resumeUpstream(toUpstreamDeps(parts), actor, now),
  }),
};

function toUpstreamDeps({ relay, watcher, store }: AdminParts): UpstreamDeps {
  return { relay, watcher, settings: store.settings, audit: store.audit };
}

async function describeStoredCommand({ store }: AdminParts, command: Command): Promise<OwnedCommandResource> {
  return describeOwnedCommand(command, await readSenderLabels(store.keys, [command]));
}

/** As an operator sees it: with its server. */
function describeOwnedCommand(command: Command, labels: ReadonlyMap<string, string>): OwnedCommandResource {
  const { command_id, ...rest } = describeCommand(command, labels);
  return { command_id, server_id: command.serverId, ...rest };
}

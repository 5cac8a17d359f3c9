// The admin API's handlers: take the request apart, have the gateway do it, put the answer together.
import type Type from "typebox";
import { KeyUpdate, NewKey, NewServer, Rotation, ServerChange } from "../core/admin-requests.ts";
import type { Command } from "../core/command.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { Page, PageRequest } from "../core/ports/pages.ts";
import type { UsageCount } from "../core/ports/usage.ts";
import { NOT_FOUND } from "../core/refuse-field.ts";
import type { CommandMeter } from "../gateway/commands/command-meter.ts";
import { cancelCommand } from "../gateway/commands/manage-commands.ts";
import {
  changeKey,
  createKey,
  describeKey,
  type KeyParts,
  liftBlock,
  listBlocks,
  revokeKey,
  rotateKey,
} from "../gateway/keys/manage-keys.ts";
import { HOUR_MS, type UsageMeter } from "../gateway/keys/usage-meter.ts";
import { addServer, changeServer, removeServer } from "../gateway/servers/manage-servers.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import { describeCommand, parseStatus } from "./commands.ts";
import { readJsonBody } from "./json-body.ts";
import type { OperatorHandler } from "./operator-only.ts";
import { describePage, parseBody, parseId, parsePage } from "./parse-request.ts";

/** The socket stays open this long while the keys of a deleted server are revoked: there may be a hundred thousand. */
const DELETION_MAX_MS = 120_000;
const EMPTY_BODY = refuse(ERRORS.invalidJson);

export type AdminParts = KeyParts & {
  readonly usage: UsageMeter;
  /** How far back the use of a key is told. */
  readonly usageMs: number;
  /** Told after a server is gone. */
  readonly forgetServer: (serverId: string) => void;
  /** Called after a server key was set, which also means: try a refused global key again. */
  readonly retryGlobalKey: () => void;
  readonly commandMeter: CommandMeter;
};

export type Admin = Readonly<
  Record<
    | "listServers"
    | "createServer"
    | "showServer"
    | "changeServer"
    | "deleteServer"
    | "listKeys"
    | "createKey"
    | "showKey"
    | "changeKey"
    | "revokeKey"
    | "rotateKey"
    | "listBlocks"
    | "liftBlock"
    | "listCommands"
    | "showCommand"
    | "cancelCommand"
    | "listAudit",
    OperatorHandler
  >
>;

export function createAdmin(parts: AdminParts): Admin {
  const { store, usage, usageMs, forgetServer, retryGlobalKey, commandMeter } = parts;
  const inTurn = createTurns();

  return {
    listServers: (call) => list(call, (page) => store.servers.list(page), describeServer),
    createServer: async (call, actor) => {
      const request = await parse(call, NewServer);
      if (isRefusal(request)) return answerRefusal(call, request);
      const made = await inTurn(() => addServer(store, request.value, actor, call.now));
      return answer(call, made, describeServer, 201);
    },
    showServer: async (call) => {
      return answer(call, store.servers.find(idOf(call)) ?? NOT_FOUND, describeServer);
    },
    changeServer: async (call, actor) => {
      const request = await parse(call, ServerChange);
      if (isRefusal(request)) return answerRefusal(call, request);
      const changed = await inTurn(() => changeServer(store, idOf(call), request.value, actor, call.now));
      if (!isRefusal(changed) && request.value.server_key !== undefined) retryGlobalKey();
      return answer(call, changed, describeServer);
    },
    deleteServer: async (call, actor) => {
      call.waitFor(DELETION_MAX_MS);
      const removed = await inTurn(() => removeServer(store, idOf(call), actor, call.now));
      if (!isRefusal(removed)) {
        forgetServer(idOf(call));
        commandMeter.count("failed", removed.failedCommands);
      }
      return answer(call, removed, ({ revokedKeys, failedCommands }) => {
        return { revoked_keys: revokedKeys, failed_commands: failedCommands };
      });
    },

    listKeys: async (call) => {
      const serverId = parseId(queryOf(call), "server_id", "srv_");
      if (typeof serverId === "object") return answerRefusal(call, serverId);
      await usage.handOver();
      return list(call, (page) => store.keys.list({ ...page, ...(serverId && { serverId }) }), describeKey);
    },
    createKey: async (call, actor) => {
      const request = await parse(call, NewKey);
      if (isRefusal(request)) return answerRefusal(call, request);
      const made = await inTurn(() => createKey(parts, request.value, actor, call.now));
      return answer(call, made, ({ key, token }) => ({ ...describeKey(key), token }), 201);
    },
    showKey: async (call) => {
      await usage.handOver();
      const key = (await store.keys.findDetails(idOf(call))) ?? NOT_FOUND;
      if (isRefusal(key)) return answerRefusal(call, key);
      const since = call.now - (call.now % HOUR_MS) - usageMs + HOUR_MS;
      const counts = await store.usage.read(key.keyId, since);
      return answerJson({ ...describeKey(key), usage: describeUsage(counts) });
    },
    changeKey: async (call, actor) => {
      const request = await parse(call, KeyUpdate);
      if (isRefusal(request)) return answerRefusal(call, request);
      await usage.handOver();
      const changed = await inTurn(() => changeKey(parts, idOf(call), request.value, actor, call.now));
      return answer(call, changed, describeKey);
    },
    revokeKey: async (call, actor) => {
      return answerDone(call, await inTurn(() => revokeKey(parts, idOf(call), actor, call.now)));
    },
    rotateKey: async (call, actor) => {
      const request = await parse(call, Rotation, {});
      if (isRefusal(request)) return answerRefusal(call, request);
      const rotated = await inTurn(() => rotateKey(parts, idOf(call), request.value, actor, call.now));
      return answer(call, rotated, ({ token, oldValidUntil }) => {
        return { key_id: idOf(call), token, old_token_valid_until: oldValidUntil };
      });
    },

    listBlocks: (call) =>
      list(
        call,
        (page) => listBlocks(store, page, call.now),
        (block) => block,
      ),
    liftBlock: async (call, actor) => {
      return answerDone(call, await inTurn(() => liftBlock(parts, idOf(call), actor, call.now)));
    },
    listCommands: async (call) => {
      const serverId = parseId(queryOf(call), "server_id", "srv_");
      if (typeof serverId === "object") return answerRefusal(call, serverId);
      const status = parseStatus(queryOf(call));
      if (typeof status === "object") return answerRefusal(call, status);
      return list(call, (page) => store.commands.list({ ...page, serverId, status }), describeOwned);
    },
    cancelCommand: async (call, actor) => {
      const cancelled = await inTurn(() =>
        cancelCommand(store.commands, commandMeter, idOf(call), actor, call.now),
      );
      return answer(call, cancelled, describeOwned);
    },
    showCommand: async (call) => {
      return answer(call, (await store.commands.find(idOf(call))) ?? NOT_FOUND, describeOwned);
    },
    listAudit: (call) =>
      list(
        call,
        (page) => store.audit.list(page),
        (entry) => entry,
      ),
  };
}

/** Changes are made one after the other: each is checked against what the one before has left. */
function createTurns(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const turn = last.then(act);
    last = turn.catch(() => {});
    return turn;
  };
}

async function parse<S extends Type.TObject>(
  call: Call,
  schema: S,
  withoutBody?: Type.Static<S>,
): Promise<{ readonly value: Type.Static<S> } | Refusal> {
  const body = await readJsonBody(call);
  if (body === undefined) return withoutBody ? { value: withoutBody } : EMPTY_BODY;
  return isRefusal(body) ? body : parseBody(schema, body.json);
}

async function list<T>(
  call: Call,
  read: (page: PageRequest) => Promise<Page<T>>,
  describe: (item: T) => unknown,
): Promise<Response> {
  const name = call.target.routeName;
  const request = parsePage(name, queryOf(call));
  if (isRefusal(request)) return answerRefusal(call, request);
  return answerJson(describePage(name, await read(request), describe));
}

function answer<T extends object>(
  call: Call,
  outcome: T | Refusal,
  describe: (made: T) => unknown,
  status = 200,
): Response {
  return isRefusal(outcome) ? answerRefusal(call, outcome) : answerJson(describe(outcome), status);
}

function answerDone(call: Call, refusal: Refusal | undefined): Response {
  if (refusal) return answerRefusal(call, refusal);
  return new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });
}

function describeServer({ serverId, name, community, createdAt }: GameServer) {
  return { server_id: serverId, name, community, created_at: createdAt };
}

/** A command with whose it is. */
function describeOwned(command: Command) {
  const { command_id, ...rest } = describeCommand(command);
  return { command_id, server_id: command.serverId, key_id: command.keyId, ...rest };
}

/** The whole, and each hour in which there was something, oldest first. */
function describeUsage(counts: readonly UsageCount[]) {
  const hours = new Map<number, UsageCount[]>();
  for (const count of counts) {
    const hour = hours.get(count.hour);
    if (hour) hour.push(count);
    else hours.set(count.hour, [count]);
  }
  return {
    ...sumUp(counts),
    hours: Array.from(hours, ([hour, ofHour]) => ({ hour, ...sumUp(ofHour) })),
  };
}

function sumUp(counts: readonly UsageCount[]) {
  let requests = 0;
  const refusals: Record<string, number> = {};
  for (const { code, count } of counts) {
    requests += count;
    if (code !== 0) refusals[code] = (refusals[code] ?? 0) + count;
  }
  return { requests, refusals };
}

function idOf(call: Call): string {
  return call.target.params.id ?? "";
}

function queryOf(call: Call): URLSearchParams {
  return new URLSearchParams(`?${call.target.query}`);
}

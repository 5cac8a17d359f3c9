// …/game/server/command, with and without the community segment: sending commands, and what became of them.
import Type from "typebox";
import {
  COMMAND_STATUSES,
  type Command,
  mayRun,
  parseCommand,
  parseIdempotencyKey,
  seesAllCommands,
} from "../core/commands/command.ts";
import { ERRORS, isRefusal, NOT_FOUND, refuse } from "../core/errors.ts";
import { type ApiKey, COMMAND_FORBIDDEN, senderOf } from "../core/keys/api-key.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { CommandQueue } from "../core/ports/commands.ts";
import type { KeyStore } from "../core/ports/keys.ts";
import { CommandReceipt, CommandResource, CommandState, NewCommand } from "../core/wire/command.ts";
import { WAIT_SECONDS_MAX } from "../core/wire/event.ts";
import { pageOf } from "../core/wire/page.ts";
import { type CommandEnds, isFinished } from "../gateway/commands/command-ends.ts";
import { NO_LONGER_WAITS, readSenderLabels } from "../gateway/commands/manage-commands.ts";
import type { CommandSubmitter } from "../gateway/commands/submit-command.ts";
import type { CommandMeter } from "../gateway/meters.ts";
import { KEY } from "./admin/keys.ts";
import { answerJson, answerLateRefusal, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import { showsEach } from "./operation.ts";
import { PAGE_FIELDS, type Pages } from "./requests/pages.ts";
import { pathIdOf, readJsonBody } from "./requests/parse-request.ts";
import { type Faults, oneOf, queryOf, readFields, refuseFaults, TWICE, wholeNumber } from "./requests/query-fields.ts";
import {
  type Caller,
  type CallerOperation,
  type CallerSteps,
  MANAGING_COMMANDS,
  SENDING_COMMAND,
} from "./steps/caller-steps.ts";

type Deps = { readonly commands: CommandDeps };

const NO_BODY = refuse(ERRORS.invalidJson);

export type CommandDeps = {
  readonly commands: Pick<CommandQueue, "find" | "list" | "cancel">;
  readonly keys: Pick<KeyStore, "listLabels">;
  readonly submitter: CommandSubmitter;
  readonly pages: Pages;
  readonly callerSteps: CallerSteps;
  readonly clock: Clock;
  readonly meter: CommandMeter;
  readonly ends: Pick<CommandEnds, "waitFor">;
};

/** What the store may take beyond the wait itself. */
const STORE_MS = 10_000;

const QUEUED_AT = 1_794_722_314_688;
const QUEUED_COMMAND = {
  command_id: "cmd_zRH77T5ZugEUB3g6rBBK",
  key_id: KEY.key_id,
  key_label: KEY.label,
  sent_by: { kind: "key", id: KEY.key_id, name: KEY.label },
  command: ":h The event starts in ten minutes",
  status: "queued",
  position: 3,
  queued_at: QUEUED_AT,
  sent_at: null,
  finished_at: null,
  confirmed_at: null,
  upstream_code: null,
  upstream_message: null,
};
const HANDED_OVER = { ...QUEUED_COMMAND, position: null, sent_at: QUEUED_AT + 3, finished_at: QUEUED_AT + 57 };
export const SENT_COMMAND = { ...HANDED_OVER, status: "sent", confirmed_at: QUEUED_AT + 6_175 };
const FAILED_COMMAND = {
  ...HANDED_OVER,
  status: "failed",
  upstream_code: 3002,
  upstream_message: "The server is offline.",
};
export const CANCELLED_COMMAND = {
  ...QUEUED_COMMAND,
  status: "cancelled",
  position: null,
  finished_at: QUEUED_AT + 2_000,
};
const { command_id, status, position, queued_at } = QUEUED_COMMAND;
const RECEIPT = { command_id, status, position, queued_at };

export const STATUS = {
  ...oneOf(COMMAND_STATUSES, { description: "Only commands in this state.", schema: CommandState }),
  mayBeEmpty: true,
};
const SHOW_FIELDS = {
  wait: wholeNumber(0, WAIT_SECONDS_MAX, {
    description:
      "Seconds to wait for a final state when there is none yet. The answer comes with it, at the latest after that time. `HEAD` never waits.",
    default: 0,
    twice: TWICE,
  }),
};
const LIST_FIELDS = { status: STATUS, ...PAGE_FIELDS };

export const submitCommand: CallerOperation<Deps> = {
  id: "submitCommand",
  tag: "Commands",
  summary: "Send a command",
  description:
    "Accepted means that it is on disk. It is handed to the game at most once, in order, when its turn comes. Does not count toward the limit. A server that is parked, because it was added for another game API than the one in use, takes no commands: 5019. The key needs the right to send this command.",
  parameters: [
    {
      name: "Idempotency-Key",
      in: "header",
      description:
        "A value of your own, new for each command. Repeating the request with the same value and the same command gets the same answer and queues nothing again. Remembered for 24 hours.",
      schema: Type.String({ pattern: "^[\\x21-\\x7e]{1,255}$" }),
      example: "7f3c2f8e-9a51-4a53-b1f6-0d3f0a6f2c11",
    },
  ],
  body: {
    schema: NewCommand,
    isRequired: true,
    examples: { hint: { summary: "A hint for everybody", value: { command: ":h The event starts in ten minutes" } } },
  },
  answers: {
    202: showsEach("Accepted. Ask for its state with `command_id`.", CommandReceipt, {
      accepted: ["Third in the queue", RECEIPT],
    }),
  },
  errors: ["missingCommand", "idempotencyInFlight", "idempotencyMismatch", "queueFull", "gameApi"],
  async answer({ commands: { submitter, callerSteps, clock } }, call, { server }) {
    const body = await readJsonBody(call);
    if (body === undefined || isRefusal(body)) return answerRefusal(call, body ?? NO_BODY);
    const key = await callerSteps.recheck(call, SENDING_COMMAND, clock());
    if (isRefusal(key)) return answerRefusal(call, key);
    const command = parseCommand(body.json);
    if (isRefusal(command)) return answerRefusal(call, command);
    const idempotencyKey = parseIdempotencyKey(call.request.headers.get("idempotency-key"));
    if (typeof idempotencyKey === "object") return answerRefusal(call, idempotencyKey);
    if (!mayRun(key.grant.commands, command.text)) return answerRefusal(call, COMMAND_FORBIDDEN);
    const { serverId } = server;
    const draft = { serverId, keyId: key.keyId, sentBy: senderOf(key), text: command.text, idempotencyKey };
    const receipt = await submitter.submit(draft, clock());
    if (isRefusal(receipt)) return answerRefusal(call, receipt);
    const { commandId, position, queuedAt } = receipt;
    const accepted: CommandReceipt = { command_id: commandId, status: "queued", position, queued_at: queuedAt };
    return answerJson(accepted, 202);
  },
};

export const listCommands: CallerOperation<Deps> = {
  id: "listCommands",
  tag: "Commands",
  summary: "List the commands of your server",
  description:
    'Newest first: those that the key sent itself, or with `["*"]` those of all keys of the server. The key needs the right to send commands. A page may have few items and still a `next`.',
  query: LIST_FIELDS,
  answers: {
    200: showsEach("A page of commands.", pageOf(CommandResource), {
      page: ["The only page", { items: [QUEUED_COMMAND, SENT_COMMAND], next: null }],
    }),
  },
  errors: ["invalidRequest"],
  async answer({ commands: { pages, commands, keys } }, call, { key, server, report }) {
    const faults: Faults = {};
    const query = readFields(LIST_FIELDS, queryOf(call), faults);
    // The same name for both forms of the path, so that a cursor of one fits the other.
    const list = `commands for ${key.keyId}`;
    const page = refuseFaults(faults) ?? pages.open(list, query);
    if (isRefusal(page)) return answerRefusal(call, page, report);
    const keyId = seesAllCommands(key.grant.commands) ? undefined : key.keyId;
    const found = await commands.list({ ...page, serverId: server.serverId, keyId, status: query.status });
    const labels = await readSenderLabels(keys, found.items);
    const items = found.items.map((command) => describeCommand(command, labels));
    return answerJson(pages.seal(list, { items, next: found.next }), 200, report);
  },
};

export const showCommand: CallerOperation<Deps> = {
  id: "showCommand",
  tag: "Commands",
  summary: "Ask what became of a command",
  description:
    'A key sees the commands that it sent itself; one that may send every command (`["*"]`) those of all keys of its server. Finished ones are told for 7 days, unless the operator says otherwise, and the newest 10,000 of a server at most. With `wait` the answer comes when the state is final. That counts as one request, and at a restart of Gatehouse the state is told as it is.',
  query: SHOW_FIELDS,
  answers: {
    200: showsEach("The command.", CommandResource, {
      queued: ["It waits", QUEUED_COMMAND],
      sent: ["The game took it", SENT_COMMAND],
      failed: ["The game refused it", FAILED_COMMAND],
    }),
  },
  errors: ["notFound", "invalidRequest", "tooManyStreams"],
  async answer({ commands }, call, caller) {
    const faults: Faults = {};
    const { wait = 0 } = readFields(SHOW_FIELDS, queryOf(call), faults);
    const fault = refuseFaults(faults);
    if (fault) return answerRefusal(call, fault, caller.report);
    const command = await commands.commands.find(pathIdOf(call));
    if (!command || !isVisible(command, caller.key)) return answerRefusal(call, NOT_FOUND, caller.report);
    if (wait === 0 || isFinished(command) || call.request.method === "HEAD")
      return answerCommand(commands, command, caller);
    return waitForEnd(commands, call, command, wait * 1000, caller);
  },
};

async function waitForEnd(
  deps: CommandDeps,
  call: Call,
  command: Command,
  waitMs: number,
  caller: Caller,
): Promise<Response> {
  const { commands, ends, callerSteps, clock } = deps;
  const recheck = () => callerSteps.recheck(call, MANAGING_COMMANDS, clock());
  const mayGoOn = async () => {
    const key = await recheck();
    return !isRefusal(key) && isVisible(command, key);
  };
  const { keyId } = caller.key;
  call.extendIdleTimeout(waitMs + STORE_MS);
  try {
    const refusal = await ends.waitFor(command.commandId, { waitMs, keyId, signal: call.request.signal, mayGoOn });
    const key = await recheck();
    if (isRefusal(key)) return answerLateRefusal(call, key, caller.report);
    if (refusal) return answerRefusal(call, refusal, caller.report);
    const found = isVisible(command, key) ? await commands.find(command.commandId) : undefined;
    return found ? answerCommand(deps, found, caller) : answerRefusal(call, NOT_FOUND, caller.report);
  } finally {
    call.resetIdleTimeout();
  }
}

export const cancelCommand: CallerOperation<Deps> = {
  id: "cancelCommand",
  tag: "Commands",
  summary: "Cancel a command that still waits",
  description: "Any command that the key sees.",
  answers: {
    200: showsEach("It will not be sent.", CommandResource, { cancelled: ["Cancelled in time", CANCELLED_COMMAND] }),
  },
  errors: ["notFound", "conflict"],
  async answer({ commands }, call, caller) {
    const { key, server, report } = caller;
    if (!seesAllCommands(key.grant.commands)) {
      // The key of a command never changes, so this holds until the command is cancelled.
      const command = await commands.commands.find(pathIdOf(call));
      if (!command || !isVisible(command, key)) return answerRefusal(call, NOT_FOUND, report);
    }
    const found = await commands.commands.cancel(server.serverId, pathIdOf(call), call.now);
    if (!found) return answerRefusal(call, NOT_FOUND, report);
    if (!found.isCancelled) return answerRefusal(call, NO_LONGER_WAITS, report);
    commands.meter.count("cancelled");
    return answerCommand(commands, found.command, caller);
  },
};

async function answerCommand({ keys }: CommandDeps, command: Command, { report }: Caller): Promise<Response> {
  return answerJson(describeCommand(command, await readSenderLabels(keys, [command])), 200, report);
}

function isVisible({ serverId, keyId }: Command, key: ApiKey): boolean {
  return serverId === key.serverId && (keyId === key.keyId || seesAllCommands(key.grant.commands));
}

/** As a caller sees it. `labels` has the label of the key that sent it. */
export function describeCommand(command: Command, labels: ReadonlyMap<string, string>): CommandResource {
  return {
    command_id: command.commandId,
    key_id: command.keyId,
    key_label: labels.get(command.keyId) ?? null,
    sent_by: describeSender(command, labels),
    command: command.text,
    status: command.status,
    position: command.position,
    queued_at: command.queuedAt,
    sent_at: command.sentAt,
    finished_at: command.finishedAt,
    confirmed_at: command.confirmedAt,
    upstream_code: command.upstreamCode,
    upstream_message: command.upstreamMessage,
  };
}

/** Commands of before people had names have that of their key. */
function describeSender({ keyId, sentBy: { kind, id, name } }: Command, labels: ReadonlyMap<string, string>) {
  return { kind, id, name: name || (labels.get(keyId) ?? "") };
}

// The command endpoint: submits, shows, lists and cancels commands.
import { type ApiKey, COMMAND_FORBIDDEN } from "../core/api-key.ts";
import {
  COMMAND_STATUSES,
  type Command,
  mayRun,
  parseCommand,
  parseIdempotencyKey,
  seesAllCommands,
} from "../core/command.ts";
import { ERRORS, isRefusal, refuse } from "../core/errors.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { CommandQueue } from "../core/ports/commands.ts";
import type { KeyStore } from "../core/ports/keys.ts";
import { NOT_FOUND } from "../core/refuse-field.ts";
import type { CommandReceipt, CommandResource } from "../core/wire/command.ts";
import type { CommandMeter } from "../gateway/commands/command-meter.ts";
import { NO_LONGER_WAITS } from "../gateway/commands/manage-commands.ts";
import { readSenderLabels } from "../gateway/commands/sender-labels.ts";
import type { CommandSubmitter } from "../gateway/commands/submit-command.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import { type Caller, type CallerSteps, SENDING_COMMAND } from "./caller-steps.ts";
import { describeCommand } from "./describe-resources.ts";
import { readJsonBody } from "./json-body.ts";
import type { Pages } from "./pages.ts";
import { parseChoice, pathIdOf, queryOf } from "./parse-request.ts";

const NO_BODY = refuse(ERRORS.invalidJson);

export type CommandHandlersParts = {
  readonly commands: Pick<CommandQueue, "find" | "list" | "cancel">;
  readonly keys: Pick<KeyStore, "listLabels">;
  readonly submitter: CommandSubmitter;
  readonly pages: Pages;
  readonly callerSteps: CallerSteps;
  readonly clock: Clock;
  readonly meter: CommandMeter;
};

export class CommandHandlers {
  readonly #parts: CommandHandlersParts;

  constructor(parts: CommandHandlersParts) {
    this.#parts = parts;
  }

  async submit(call: Call, { server }: Caller): Promise<Response> {
    const { submitter, callerSteps, clock } = this.#parts;
    const body = await readJsonBody(call);
    if (body === undefined || isRefusal(body)) return answerRefusal(call, body ?? NO_BODY);
    const key = await callerSteps.recheck(call, SENDING_COMMAND, clock());
    if (isRefusal(key)) return answerRefusal(call, key);
    const command = parseCommand(body.json);
    if (isRefusal(command)) return answerRefusal(call, command);
    const idempotencyKey = parseIdempotencyKey(call.request.headers.get("idempotency-key"));
    if (typeof idempotencyKey === "object") return answerRefusal(call, idempotencyKey);
    if (!mayRun(key.grant.commands, command.text)) return answerRefusal(call, COMMAND_FORBIDDEN);
    const draft = { serverId: server.serverId, keyId: key.keyId, text: command.text, idempotencyKey };
    const receipt = await submitter.submit(draft, clock());
    if (isRefusal(receipt)) return answerRefusal(call, receipt);
    const { commandId, position, queuedAt } = receipt;
    const accepted: CommandReceipt = {
      command_id: commandId,
      status: "queued",
      position,
      queued_at: queuedAt,
    };
    return answerJson(accepted, 202);
  }

  async list(call: Call, { key, server, report }: Caller): Promise<Response> {
    const { pages, commands, keys } = this.#parts;
    const query = queryOf(call);
    // The same name for both forms of the path, so that a cursor of one fits the other.
    const list = `commands for ${key.keyId}`;
    const page = pages.parse(list, query);
    if (isRefusal(page)) return answerRefusal(call, page, report);
    const status = parseStatus(query);
    if (typeof status === "object") return answerRefusal(call, status, report);
    const keyId = seesAllCommands(key.grant.commands) ? undefined : key.keyId;
    const found = await commands.list({ ...page, serverId: server.serverId, keyId, status });
    const labels = await readSenderLabels(keys, found.items);
    const body = pages.describe(list, found, (command) => describeCommand(command, labels));
    return answerJson(body, 200, report);
  }

  async show(call: Call, { key, report }: Caller): Promise<Response> {
    const command = await this.#parts.commands.find(pathIdOf(call));
    if (!command || !isVisible(command, key)) return answerRefusal(call, NOT_FOUND, report);
    return answerJson(await this.#describe(command), 200, report);
  }

  async cancel(call: Call, { key, server, report }: Caller): Promise<Response> {
    if (!seesAllCommands(key.grant.commands)) {
      // The key of a command never changes, so this holds until the command is cancelled.
      const command = await this.#parts.commands.find(pathIdOf(call));
      if (!command || !isVisible(command, key)) return answerRefusal(call, NOT_FOUND, report);
    }
    const found = await this.#parts.commands.cancel(server.serverId, pathIdOf(call), call.now);
    if (!found) return answerRefusal(call, NOT_FOUND, report);
    if (!found.isCancelled) return answerRefusal(call, NO_LONGER_WAITS, report);
    this.#parts.meter.count("cancelled");
    return answerJson(await this.#describe(found.command), 200, report);
  }

  async #describe(command: Command): Promise<CommandResource> {
    return describeCommand(command, await readSenderLabels(this.#parts.keys, [command]));
  }
}

function isVisible({ serverId, keyId }: Command, key: ApiKey): boolean {
  return serverId === key.serverId && (keyId === key.keyId || seesAllCommands(key.grant.commands));
}

/** The `status` in the query; undefined when it is absent or empty. */
export function parseStatus(query: URLSearchParams) {
  return parseChoice(query, "status", COMMAND_STATUSES);
}

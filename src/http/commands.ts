// The command endpoint: submit one, ask what became of it, list them, take one back while it waits.
import {
  COMMAND_STATUSES,
  type Command,
  mayRun,
  parseCommand,
  parseIdempotencyKey,
} from "../core/command.ts";
import { ERRORS, isRefusal, refuse } from "../core/errors.ts";
import type { Clock, CommandQueue } from "../core/ports.ts";
import type { CommandMeter } from "../gateway/command-meter.ts";
import { NO_LONGER_WAITS } from "../gateway/manage-commands.ts";
import { NOT_FOUND, refuseField } from "../gateway/refuse-field.ts";
import type { SubmitCommand } from "../gateway/submit-command.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import type { CallerHandler, RecheckCommander } from "./caller-only.ts";
import { readJsonBody } from "./json-body.ts";
import { describePage, findOnly, parsePage } from "./parse-request.ts";

const NO_BODY = refuse(ERRORS.invalidJson);
const NOT_ALLOWED = refuse(ERRORS.forbidden);

export type Commands = Readonly<Record<"submit" | "list" | "show" | "cancel", CallerHandler>>;

export function createCommands(parts: {
  readonly commands: Pick<CommandQueue, "find" | "list" | "cancel">;
  readonly submit: SubmitCommand;
  readonly recheck: RecheckCommander;
  readonly clock: Clock;
  readonly meter: CommandMeter;
}): Commands {
  const { commands, submit, recheck, clock, meter } = parts;
  return {
    async submit(call, { server }) {
      const body = await readJsonBody(call);
      if (body === undefined || isRefusal(body)) return answerRefusal(call, body ?? NO_BODY);
      // A body can take its time; the key may have been revoked or suspended meanwhile, or its server deleted.
      const key = recheck(call, clock());
      if (isRefusal(key)) return answerRefusal(call, key);
      const command = parseCommand(body.json);
      if (isRefusal(command)) return answerRefusal(call, command);
      const idempotencyKey = parseIdempotencyKey(call.request.headers.get("idempotency-key"));
      if (typeof idempotencyKey === "object") return answerRefusal(call, idempotencyKey);
      if (!mayRun(key.grant.commands, command.text)) return answerRefusal(call, NOT_ALLOWED);
      const draft = { serverId: server.serverId, keyId: key.keyId, text: command.text, idempotencyKey };
      const receipt = await submit(draft, clock());
      if (isRefusal(receipt)) return answerRefusal(call, receipt);
      const { commandId, position, queuedAt } = receipt;
      return answerJson({ command_id: commandId, status: "queued", position, queued_at: queuedAt }, 202);
    },

    async list(call, { server, report }) {
      const query = new URLSearchParams(`?${call.target.query}`);
      // Both forms of the path are one list.
      const page = parsePage("commands", query);
      if (isRefusal(page)) return answerRefusal(call, page, report);
      const status = parseStatus(query);
      if (typeof status === "object") return answerRefusal(call, status, report);
      const found = await commands.list({ ...page, serverId: server.serverId, status });
      return answerJson(describePage("commands", found, describeCommand), 200, report);
    },

    async show(call, { server, report }) {
      const command = await commands.find(idOf(call));
      if (!command || command.serverId !== server.serverId) return answerRefusal(call, NOT_FOUND, report);
      return answerJson(describeCommand(command), 200, report);
    },

    async cancel(call, { server, report }) {
      const found = await commands.cancel(server.serverId, idOf(call), call.now);
      if (!found) return answerRefusal(call, NOT_FOUND, report);
      if (!found.isCancelled) return answerRefusal(call, NO_LONGER_WAITS, report);
      meter.count("cancelled");
      return answerJson(describeCommand(found.command), 200, report);
    },
  };
}

/** A command as its caller sees it, with null for what is not. */
export function describeCommand(command: Command) {
  return {
    command_id: command.commandId,
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

/** The `status` of a list; undefined when the query has none, or an empty one. */
export function parseStatus(query: URLSearchParams) {
  const given = findOnly(query, "status");
  if (given === undefined || given === "") return undefined;
  const status = COMMAND_STATUSES.find((one) => one === given);
  return status ?? refuseField("status", `must be one of ${COMMAND_STATUSES.join(", ")}`);
}

function idOf(call: Call): string {
  return call.target.params.id ?? "";
}

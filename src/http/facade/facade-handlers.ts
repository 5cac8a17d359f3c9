// The façade: answers clients of the game API in its shapes. Reads use the same snapshots and commands the same queue as our
// own API.
import { COMMAND_FORBIDDEN } from "../../core/api-key.ts";
import { mayRun, parseCommand } from "../../core/command.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import { toCommandAnswer } from "../../core/facade/game-errors.ts";
import { SECTION_OF_V1, V1_RESOURCES } from "../../core/facade/v1-shapes.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Clock, SleepUntilWoken } from "../../core/ports/clock.ts";
import { toSectionSet } from "../../core/sections.ts";
import type { CommandEnds } from "../../gateway/commands/command-ends.ts";
import type { CommandSubmitter } from "../../gateway/commands/submit-command.ts";
import type { Relay } from "../../gateway/readings/relay.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { type Caller, type CallerSteps, type Purpose, READING, SENDING_COMMAND } from "../caller-steps.ts";
import { readJsonBody } from "../json-body.ts";
import type { ReadingView, ReadServerHandler } from "../read-server.ts";
import { facadeBodiesOf } from "./facade-bodies.ts";

/** Below the shortest timeout of a client in the field, which is 5 s. */
export const ANSWER_WITHIN_MS = 4_000;
/** Of that, the part in which a server that was offline is asked whether it still is. */
export const ASK_WITHIN_MS = 1_000;
const NO_BODY = refuse(ERRORS.invalidJson);
const NO_BANS = { code: 3001, message: "The list of bans is not available through this API." };

/** Sections that the key may not read are empty instead of refused. */
const SERVER_VIEW: ReadingView = {
  purpose: READING,
  bodyOf: (call, snapshot, readable) => facadeBodiesOf(snapshot).server(call.target.sections, readable),
};

/** A resource of version 1: its path, and what the caller needs for it. */
type V1Route = { readonly path: string; readonly purpose: Purpose; readonly view: ReadingView };

export const FACADE_V1: readonly V1Route[] = V1_RESOURCES.map((resource) => {
  const section = SECTION_OF_V1[resource];
  const purpose = section === undefined ? READING : { ...READING, needs: toSectionSet([section]) };
  const view: ReadingView = { purpose, bodyOf: (_, snapshot) => facadeBodiesOf(snapshot).v1(resource) };
  return { path: `/erlc/v1/server${resource === "server" ? "" : `/${resource}`}`, purpose, view };
});

export type FacadeHandlersParts = {
  readonly readServer: Pick<ReadServerHandler, "answer">;
  readonly callerSteps: Pick<CallerSteps, "recheck">;
  readonly submitter: Pick<CommandSubmitter, "submit">;
  readonly ends: Pick<CommandEnds, "wait">;
  readonly relay: Pick<Relay, "findCommandRefusal">;
  readonly clock: Clock;
  readonly pause: SleepUntilWoken;
};

export class FacadeHandlers {
  readonly #parts: FacadeHandlersParts;

  constructor(parts: FacadeHandlersParts) {
    this.#parts = parts;
  }

  readServer(call: Call, caller: Caller): MaybePromise<Response> {
    return this.#parts.readServer.answer(call, caller, SERVER_VIEW);
  }

  readV1(call: Call, caller: Caller, view: ReadingView): MaybePromise<Response> {
    return this.#parts.readServer.answer(call, caller, view);
  }

  /** The game API had this list in version 1; Gatehouse does not read it. */
  refuseBans(call: Call, { report }: Caller): Response {
    call.code = ERRORS.notFound.code;
    return answerJson(NO_BANS, 404, report);
  }

  /**
   * Clients send a command again after a timeout, 429 or 5xx. So the same text is the same command for a while, the answer comes
   * before a client gives up waiting, and a command that the game may have run gets no status after which it is sent again.
   */
  async send(call: Call, { server, key: sender }: Caller): Promise<Response> {
    const { submitter, callerSteps, ends, clock } = this.#parts;
    const body = await readJsonBody(call);
    if (body === undefined || isRefusal(body)) return answerRefusal(call, body ?? NO_BODY);
    const command = parseCommand(toOwnBody(body.json));
    // Before the key is checked again, because it may take a while.
    const isAllowed = !isRefusal(command) && mayRun(sender.grant.commands, command.text);
    const known = isAllowed ? await this.#findRefusal(server) : undefined;
    const key = await callerSteps.recheck(call, SENDING_COMMAND, clock());
    if (isRefusal(key)) return answerRefusal(call, key);
    if (isRefusal(command)) return answerRefusal(call, command);
    const { text } = command;
    if (!mayRun(key.grant.commands, text)) return answerRefusal(call, COMMAND_FORBIDDEN);
    const draft = { serverId: server.serverId, keyId: key.keyId, text, idempotencyKey: undefined };
    const receipt = await submitter.submit({ ...draft, joinsSame: true }, clock(), known);
    if (isRefusal(receipt)) return answerRefusal(call, receipt);
    const { commandId } = receipt;
    const leftMs = ANSWER_WITHIN_MS - (performance.now() - call.startedAt);
    const answer = toCommandAnswer(commandId, await ends.wait(commandId, key.keyId, leftMs));
    if (answer.status !== 200) call.code = ERRORS.gameApi.code;
    return answerJson(answer.body, answer.status);
  }

  /** Undefined also when the game API takes too long to say: then the command is queued, and the game decides. */
  async #findRefusal(server: GameServer): Promise<Refusal | undefined> {
    const { relay, pause, clock } = this.#parts;
    const over = new AbortController();
    const late = pause(ASK_WITHIN_MS, over.signal).then(() => undefined);
    try {
      return await Promise.race([relay.findCommandRefusal(server, clock()), late]);
    } finally {
      over.abort();
    }
  }
}

/** Erlc.Net writes the name of the field with a capital. */
function toOwnBody(json: unknown): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  if (Object.hasOwn(json, "command") || !Object.hasOwn(json, "Command")) return json;
  return { command: (json as { Command: unknown }).Command };
}

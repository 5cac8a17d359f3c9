// The façade: answers clients of the game API in its shapes, which are made once for each snapshot. Reads use the same
// snapshots and commands the same queue as our own API.
import { mayRun, parseCommand } from "../../core/commands/command.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import { toCommandAnswer } from "../../core/facade/game-errors.ts";
import {
  SECTION_OF_V1,
  V1_RESOURCES,
  type V1Resource,
  writeEmptySection,
  writeSection,
  writeV1,
} from "../../core/facade/v1-shapes.ts";
import type { GameServer } from "../../core/game-server.ts";
import { COMMAND_FORBIDDEN, type ReadRights, senderOf } from "../../core/keys/api-key.ts";
import type { HiddenSet } from "../../core/keys/rights.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Clock, SleepUntilWoken } from "../../core/ports/clock.ts";
import { SECTIONS, type SectionSet, toSectionSet } from "../../core/sections.ts";
import { Body } from "../../gateway/body.ts";
import type { CommandEnds } from "../../gateway/commands/command-ends.ts";
import type { CommandSubmitter } from "../../gateway/commands/submit-command.ts";
import type { Relay } from "../../gateway/readings/relay.ts";
import { BODIES_MAX, type Snapshot } from "../../gateway/readings/snapshot.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import type { ReadingView, ReadServerHandler } from "../readings/read-server.ts";
import { readJsonBody } from "../requests/parse-request.ts";
import { type Caller, type CallerSteps, type Purpose, READING, SENDING_COMMAND } from "../steps/caller-steps.ts";

/** Below the shortest timeout of a client in the field, which is 5 s. */
export const ANSWER_WITHIN_MS = 4_000;
/** Of that, the part in which a server that was offline is asked whether it still is. */
export const ASK_WITHIN_MS = 1_000;
const NO_BODY = refuse(ERRORS.invalidJson);
const NO_BANS = { code: 3001, message: "The list of bans is not available through this API." };

/** Sections that the key may not read are empty instead of refused. */
const SERVER_VIEW: ReadingView = {
  purpose: READING,
  bodyOf: (call, snapshot, rights) => facadeBodiesOf(snapshot).server(call.target.sections, rights),
};

/** A resource of version 1: its path, and what the caller needs for it. */
type V1Route = {
  readonly resource: V1Resource;
  readonly path: string;
  readonly purpose: Purpose;
  readonly view: ReadingView;
};

export const FACADE_V1: readonly V1Route[] = V1_RESOURCES.map((resource) => {
  const section = SECTION_OF_V1[resource];
  const purpose = section === undefined ? READING : { ...READING, needs: toSectionSet([section]) };
  const view: ReadingView = { purpose, bodyOf: (_, snapshot, { hide }) => facadeBodiesOf(snapshot).v1(resource, hide) };
  return { resource, path: `/erlc/v1/server${resource === "server" ? "" : `/${resource}`}`, purpose, view };
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
  constructor(private readonly parts: FacadeHandlersParts) {}

  readServer(call: Call, caller: Caller): MaybePromise<Response> {
    return this.parts.readServer.answer(call, caller, SERVER_VIEW);
  }

  readV1(call: Call, caller: Caller, view: ReadingView): MaybePromise<Response> {
    return this.parts.readServer.answer(call, caller, view);
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
    const { submitter, callerSteps, ends, clock } = this.parts;
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
    const { serverId } = server;
    const draft = { serverId, keyId: key.keyId, sentBy: senderOf(key), text, idempotencyKey: undefined };
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
    const { relay, pause, clock } = this.parts;
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

const known = new WeakMap<Snapshot, FacadeBodies>();

/** The bodies of a snapshot; they live as long as it does. */
export function facadeBodiesOf(snapshot: Snapshot): FacadeBodies {
  const found = known.get(snapshot) ?? new FacadeBodies(snapshot);
  known.set(snapshot, found);
  return found;
}

class FacadeBodies {
  readonly #bodies = new Map<string, Body>();

  constructor(private readonly snapshot: Snapshot) {}

  /** The state of the server; sections that may not be read are empty. */
  server(requested: SectionSet, { sections, hide }: ReadRights): Body {
    const shown = requested & sections;
    return this.#keep(`${requested} ${shown} ${hide}`, () => this.#assemble(requested, shown, hide));
  }

  v1(resource: V1Resource, hide: HiddenSet): Body {
    return this.#keep(`${resource} ${hide}`, () => writeV1(this.snapshot.partsFor(hide), resource));
  }

  #assemble(requested: SectionSet, shown: SectionSet, hide: HiddenSet): string {
    const parts = this.snapshot.partsFor(hide);
    let text = parts.base;
    for (const [bit, name] of SECTIONS.entries()) {
      if (!(requested & (1 << bit))) continue;
      text += `,"${name}":${shown & (1 << bit) ? writeSection(parts, name) : writeEmptySection(name)}`;
    }
    return `${text}}`;
  }

  #keep(name: string, write: () => string): Body {
    const cached = this.#bodies.get(name);
    if (cached) return cached;
    const body = new Body(write());
    if (this.#bodies.size >= BODIES_MAX) {
      const oldest = this.#bodies.keys().next();
      if (!oldest.done) this.#bodies.delete(oldest.value);
    }
    this.#bodies.set(name, body);
    return body;
  }
}

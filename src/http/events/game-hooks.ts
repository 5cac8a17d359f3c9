// POST /hooks/game: takes the game's own webhooks. Nothing is computed or kept for a request whose headers cannot be the game's.
import Type from "typebox";
import { networkOf } from "../../core/address.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import type { HookReceiver } from "../../gateway/hooks/hook-receiver.ts";
import { judgeHeaders, type SignatureCheck, type SignedHeaders } from "../../gateway/hooks/hook-signature.ts";
import type { HookFault, HookMeter } from "../../gateway/meters.ts";
import { answerDone, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import type { OpenOperation, Parameter } from "../operation.ts";
import {
  BODY_DEADLINE_MS,
  type BodyLimits,
  CUT_OFF,
  isCutOff,
  KEEP_NOTHING,
  NO_ROOM,
  readBytes,
} from "../requests/body-bytes.ts";
import type { HeldBodies, HeldBody } from "../requests/held-bodies.ts";

const HOOK_LIMITS: BodyLimits = { bytesMax: 65_536, deadlineMs: BODY_DEADLINE_MS };
/** How long recording may take, beyond the time of the archive's own deadlines. */
const ANSWER_MS = 20_000;
const INVALID_JSON = refuse(ERRORS.invalidJson);
const INVALID_SIGNATURE = refuse(ERRORS.invalidSignature, undefined, { "WWW-Authenticate": "Signature" });

export type GameHookParts = {
  readonly receiver: HookReceiver;
  readonly signatureCheck: SignatureCheck;
  readonly meter: HookMeter;
  readonly held: HeldBodies;
  /** The client's address: memory and checks are shared among them. */
  readonly findAddress: (call: Call) => string;
};

const GameWebhook = Type.Object(
  {
    server: Type.String({ description: "The part of a server key after the hyphen; `global` in a probe" }),
    events: Type.Array(
      Type.Object(
        {
          event: Type.String({
            description: "WebhookProbe, CustomCommand, EmergencyCallStarted, EmergencyCallEnded, or newer",
          }),
          timestamp: Type.Integer({ format: "int64", description: "Unix timestamp in seconds" }),
          origin: Type.String({ description: "Of a CustomCommand, the id of the player who typed it" }),
          data: Type.Record(Type.String(), Type.Unknown(), { description: "What the kind of event has" }),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { additionalProperties: true, description: "What the game tells" },
);

const SIGNATURE: Parameter = {
  name: "X-Signature-Ed25519",
  in: "header",
  description: "The Ed25519 signature of the timestamp's text followed by the raw body: 128 hexadecimal digits.",
  schema: Type.String({ pattern: "^[0-9a-fA-F]{128}$" }),
};
const TIMESTAMP: Parameter = {
  name: "X-Signature-Timestamp",
  in: "header",
  description: "Unix seconds, at most 300 s away.",
  schema: Type.String({ pattern: "^[0-9]{1,12}$" }),
  example: "1775518795",
};

export const receiveGameWebhook: OpenOperation<{ readonly gameHooks: GameHookHandler }> = {
  id: "receiveGameWebhook",
  tag: "Service",
  summary: "Take a webhook of the game",
  description:
    "For the game alone: a body that is not signed with its key is refused. Enter this address in the settings of the game server. Its events are on disk before the answer. A webhook that was taken before, or is about a server that Gatehouse does not have, is 204 and records nothing.",
  parameters: [SIGNATURE, TIMESTAMP],
  body: {
    schema: GameWebhook,
    isRequired: true,
    mediaType: ["application/json"],
    examples: {
      command: {
        summary: "A player typed ;logging",
        value: {
          server: "gbzaDhOJQTPrFVIjmNuyTYqzyqupLolnWfJmPznx",
          events: [
            {
              event: "CustomCommand",
              timestamp: 1_775_518_795,
              origin: "913430532",
              data: { command: "logging", argument: "This is a custom command." },
            },
          ],
        },
      },
      probe: {
        summary: "The probe, before the game saves the address",
        value: {
          server: "global",
          events: [{ event: "WebhookProbe", timestamp: 1_775_444_267, origin: "global", data: {} }],
        },
      },
    },
  },
  answers: { 204: { description: "It is taken." } },
  errors: ["invalidJson", "invalidSignature", "payloadTooLarge", "internal", "unavailable"],
  answer: ({ gameHooks }, call) => gameHooks.answer(call),
};

export class GameHookHandler {
  constructor(private readonly parts: GameHookParts) {}

  async answer(call: Call): Promise<Response> {
    const { headers } = call.request;
    const signed = judgeHeaders(headers.get("x-signature-ed25519"), headers.get("x-signature-timestamp"), call.now);
    if (typeof signed === "object") return this.#answerSigned(call, signed);
    // A body that is too large is told first, whatever the headers are.
    const read = await readBytes(call, HOOK_LIMITS, KEEP_NOTHING);
    return isRefusal(read) ? this.#refuseBody(call, read) : this.#refuse(call, INVALID_SIGNATURE, signed);
  }

  async #answerSigned(call: Call, signed: SignedHeaders): Promise<Response> {
    const sender = networkOf(this.parts.findAddress(call));
    const held = this.parts.held.open(sender);
    try {
      return await this.#answerHeld(call, signed, sender, held);
    } finally {
      held.release();
    }
  }

  async #answerHeld(call: Call, signed: SignedHeaders, sender: string, held: HeldBody): Promise<Response> {
    const { receiver, signatureCheck } = this.parts;
    const bytes = await readBytes(call, HOOK_LIMITS, held);
    if (isRefusal(bytes)) return this.#refuseBody(call, bytes);
    if (await isCutOff(call.request)) return this.#refuseBody(call, CUT_OFF);
    const isValid = await signatureCheck.isValid(signed, bytes, sender, held.givenUp);
    if (isValid === "given up") return this.#refuseBody(call, NO_ROOM);
    if (!isValid) return this.#refuse(call, INVALID_SIGNATURE, "signature");
    const text = decode(bytes);
    if (text === undefined) return this.#refuse(call, INVALID_JSON, "json");
    call.extendIdleTimeout(ANSWER_MS);
    try {
      const isJson = await receiver.receive(signed.signature, text);
      if (!isJson) return this.#refuse(call, INVALID_JSON, "json");
    } finally {
      call.resetIdleTimeout();
    }
    return answerDone();
  }

  #refuseBody(call: Call, refusal: Refusal): Response {
    return this.#refuse(call, refusal, refusal.refused === ERRORS.payloadTooLarge ? "too_large" : "body");
  }

  #refuse(call: Call, refusal: Refusal, fault: HookFault): Response {
    this.parts.meter.refused[fault]++;
    return answerRefusal(call, refusal);
  }
}

/** Undefined for what is not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

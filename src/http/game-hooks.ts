// POST /hooks/game: takes the game's own webhooks. Nothing is computed or kept for a request whose headers cannot be the game's.
import { networkOf } from "../core/address.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import type { HookFault, HookMeter } from "../gateway/hooks/hook-meter.ts";
import type { HookReceiver } from "../gateway/hooks/hook-receiver.ts";
import { judgeHeaders, type SignatureCheck, type SignedHeaders } from "../gateway/hooks/hook-signature.ts";
import { answerRefusal } from "./answers.ts";
import {
  BODY_DEADLINE_MS,
  type BodyLimits,
  CUT_OFF,
  isCutOff,
  KEEP_NOTHING,
  NO_ROOM,
  readBytes,
} from "./body-bytes.ts";
import type { Call } from "./call.ts";
import type { HeldBodies, HeldBody } from "./held-bodies.ts";
import { NO_SNIFFING } from "./page-headers.ts";

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

export class GameHookHandler {
  readonly #parts: GameHookParts;

  constructor(parts: GameHookParts) {
    this.#parts = parts;
  }

  async answer(call: Call): Promise<Response> {
    const { headers } = call.request;
    const signed = judgeHeaders(
      headers.get("x-signature-ed25519"),
      headers.get("x-signature-timestamp"),
      call.now,
    );
    if (typeof signed === "object") return this.#answerSigned(call, signed);
    // A body that is too large is told first, whatever the headers are.
    const read = await readBytes(call, HOOK_LIMITS, KEEP_NOTHING);
    return isRefusal(read) ? this.#refuseBody(call, read) : this.#refuse(call, INVALID_SIGNATURE, signed);
  }

  async #answerSigned(call: Call, signed: SignedHeaders): Promise<Response> {
    const sender = networkOf(this.#parts.findAddress(call));
    const held = this.#parts.held.open(sender);
    try {
      return await this.#answerHeld(call, signed, sender, held);
    } finally {
      held.release();
    }
  }

  async #answerHeld(call: Call, signed: SignedHeaders, sender: string, held: HeldBody): Promise<Response> {
    const { receiver, signatureCheck } = this.#parts;
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
    return new Response(null, { status: 204, headers: { "Cache-Control": "no-store", ...NO_SNIFFING } });
  }

  #refuseBody(call: Call, refusal: Refusal): Response {
    return this.#refuse(call, refusal, refusal.refused === ERRORS.payloadTooLarge ? "too_large" : "body");
  }

  #refuse(call: Call, refusal: Refusal, fault: HookFault): Response {
    this.#parts.meter.refused[fault]++;
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

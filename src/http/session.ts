// /session: signing in and out from our own page. The cookie of a device is taken here and nowhere else; what the page gets is a
// short-lived token for its memory.
import { parseBearer } from "../core/bearer.ts";
import { describeUserAgent } from "../core/describe-user-agent.ts";
import { isRefusal, type Refusal, StoreUnavailable } from "../core/errors.ts";
import { isWellFormedToken } from "../core/token.ts";
import { LinkSignIn, type SessionResource } from "../core/wire/session.ts";
import { INVALID_TOKEN, MISSING_TOKEN } from "../gateway/keys/authenticate.ts";
import type { GuessLimit } from "../gateway/keys/authenticate-operator.ts";
import type {
  DeviceClient,
  DeviceSessions,
  NewSession,
  OpenedSession,
} from "../gateway/keys/device-sessions.ts";
import { answerDone } from "./admin/answer-operator.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller-steps.ts";
import { clearDeviceCookie, readDeviceCookie, writeDeviceCookie } from "./device-cookie.ts";
import { parseBody } from "./parse-request.ts";

export type SessionHandlersParts = {
  readonly sessions: DeviceSessions;
  readonly guesses: GuessLimit;
  readonly findAddress: (call: Call) => string;
};

export class SessionHandlers {
  readonly #parts: SessionHandlersParts;

  constructor(parts: SessionHandlersParts) {
    this.#parts = parts;
  }

  /** A new token for the device whose cookie comes with the request. */
  async renew(call: Call): Promise<Response> {
    const secret = readDeviceCookie(call);
    if (secret === undefined) return answerRefusal(call, MISSING_TOKEN);
    const client = this.#describeClient(call);
    const opened = await this.#parts.sessions.renew(secret, client, call.now);
    if (!isRefusal(opened)) return answerJson(describeSession(opened, call.now));
    return this.#refuse(call, opened, client);
  }

  /** Remembers the device of a caller. A session token is not enough: it would turn minutes into a month. */
  async remember(call: Call, { key, report }: Caller): Promise<Response> {
    const bearer = parseBearer(call.request.headers.get("authorization"));
    if (bearer.kind !== "token" || !isWellFormedToken(bearer.token))
      return answerRefusal(call, INVALID_TOKEN, report);
    const client = this.#describeClient(call);
    const opened = await this.#parts.sessions.remember(key, bearer.token, client, call.now);
    if (isRefusal(opened)) return answerRefusal(call, opened, report);
    await this.#endReplaced(call, client);
    return this.#answerNew(call, answerJson(describeSession(opened, call.now), 201, report), opened, true);
  }

  /** Signs a device in with a one-time link. */
  async redeem(call: Call): Promise<Response> {
    const body = await parseBody(call, LinkSignIn);
    if (isRefusal(body)) return answerRefusal(call, body);
    const { link, remember: isRemembered = false } = body.value;
    const client = this.#describeClient(call);
    const opened = await this.#parts.sessions.redeem(link, isRemembered, client, call.now);
    if (isRefusal(opened)) return this.#refuse(call, opened, client);
    await this.#endReplaced(call, client);
    const answer = answerJson(describeSession(opened, call.now), 201);
    return this.#answerNew(call, answer, opened, isRemembered);
  }

  /** Answers the same for every cookie, so that nobody learns which one is a device's. */
  async end(call: Call): Promise<Response> {
    const secret = readDeviceCookie(call);
    if (secret !== undefined) await this.#parts.sessions.end(secret, this.#describeClient(call), call.now);
    const response = answerDone(call, undefined);
    response.headers.set("Set-Cookie", clearDeviceCookie(call));
    return response;
  }

  /** A browser has one cookie, so the device that it was before would stay behind without its secret. */
  async #endReplaced(call: Call, client: DeviceClient): Promise<void> {
    const secret = readDeviceCookie(call);
    try {
      if (secret !== undefined) await this.#parts.sessions.end(secret, client, call.now);
    } catch (error) {
      // The new device is signed in; the old one ends by itself.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  #answerNew(call: Call, response: Response, { secret, deviceExpiresAt }: NewSession, isKept: boolean) {
    const seconds = Math.floor((deviceExpiresAt - call.now) / 1000);
    response.headers.set("Set-Cookie", writeDeviceCookie(call, secret, isKept ? seconds : undefined));
    return response;
  }

  #refuse(call: Call, refusal: Refusal, { address }: DeviceClient): Response {
    return answerRefusal(call, this.#parts.guesses.judge(refusal, address, call.now));
  }

  #describeClient(call: Call): DeviceClient {
    const description = describeUserAgent(call.request.headers.get("user-agent"));
    return { address: this.#parts.findAddress(call), description };
  }
}

function describeSession(session: OpenedSession, now: number): SessionResource {
  return {
    token: session.token,
    expires_at: session.expiresAt,
    expires_in: Math.floor((session.expiresAt - now) / 1000),
    key_id: session.keyId,
    device_id: session.deviceId,
    device_expires_at: session.deviceExpiresAt,
  };
}

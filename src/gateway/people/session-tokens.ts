// Session tokens: short-lived tokens of a person who is signed in, each for one server, for the admin API or for the person's
// own page. They are signed and not stored, so that every instance with the same secret takes them. They name their session,
// and count only while it lasts.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

export const SESSION_TOKEN_MS = 15 * 60_000;
export const SESSION_TOKEN_PREFIX = "gts_";
const SESSION_PREFIX = "ses_";
const SERVER_PREFIX = "srv_";
/** Stands where other tokens have their server. No server has such an id: theirs are longer. */
const FOR_ADMIN = "admin";
const TIME_LENGTH = 9;
const SHAPE = /^(gts_([0-9A-Za-z]{20})\.([0-9A-Za-z]{1,40})\.([0-9a-z]{9}))\.([A-Za-z0-9_-]{43})$/;

/** As the server of a token that is good for one's own sessions and passkeys only. No server has such an id, either. */
export const FOR_OWN = `${SERVER_PREFIX}own`;

/** `serverId` is null for the admin API. */
export type OpenedToken = { readonly sessionId: string; readonly serverId: string | null; readonly expiresAt: number };

export class SessionTokens {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "session-tokens.v2", 32));
  }

  mint({ sessionId, serverId, expiresAt }: OpenedToken): string {
    const session = sessionId.slice(SESSION_PREFIX.length);
    const target = serverId?.slice(SERVER_PREFIX.length) ?? FOR_ADMIN;
    const time = expiresAt.toString(36).padStart(TIME_LENGTH, "0");
    const signed = `${SESSION_TOKEN_PREFIX}${session}.${target}.${time}`;
    return `${signed}.${this.#sign(signed)}`;
  }

  /** Undefined when the token was altered, was never made, or has expired. */
  open(token: string, now: number): OpenedToken | undefined {
    const [, signed = "", session = "", target = "", time = "", signature = ""] = SHAPE.exec(token) ?? [];
    if (signature === "") return undefined;
    // Compared as text: the last character of base64 has bits that decode to nothing.
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(this.#sign(signed)))) return undefined;
    const expiresAt = Number.parseInt(time, 36);
    const serverId = target === FOR_ADMIN ? null : SERVER_PREFIX + target;
    return now < expiresAt ? { sessionId: SESSION_PREFIX + session, serverId, expiresAt } : undefined;
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}

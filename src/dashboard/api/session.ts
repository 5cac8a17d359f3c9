// The requests under /session: the only ones that send and take a cookie.
import type { LinkSignIn, SessionResource } from "../../core/wire/session.ts";
import { type Outcome, sendWithCookie } from "./request.ts";

/** A new token for this device. */
export function renewSession(): Promise<Outcome<SessionResource>> {
  return sendWithCookie("/session", { method: "POST" });
}

export function rememberDevice(key: string): Promise<Outcome<SessionResource>> {
  return sendWithCookie("/session/devices", {
    method: "POST",
    headers: { Authorization: `Bearer ${key}` },
  });
}

export function redeemLink(body: LinkSignIn): Promise<Outcome<SessionResource>> {
  return sendWithCookie("/session/links", { method: "POST", body });
}

export function endSession(): Promise<Outcome<undefined>> {
  return sendWithCookie("/session", { method: "DELETE" });
}

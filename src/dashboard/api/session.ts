// The requests under /session: signing in and out, tokens, and one's own passkeys and sessions. Only these send and take a cookie.
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/browser";
import type {
  MeResource,
  PasskeyList,
  PasskeyResource,
  PersonSessionList,
  PersonTokenResource,
  SignInMethods,
  TokenRequest,
} from "../../core/wire/people.ts";
import { type ApiCall, type Outcome, sendWithCookie } from "./request.ts";

/** What the sign-in page can offer. */
export function readSignInMethods(): Promise<Outcome<SignInMethods>> {
  return sendWithCookie("/session/methods", {});
}

/** A token for one server, for one's own page, or for the admin API. */
export function grantToken(body: TokenRequest): Promise<Outcome<PersonTokenResource>> {
  return sendWithCookie("/session", { method: "POST", body });
}

/** Who is signed in with this browser. */
export function readMe(): Promise<Outcome<MeResource>> {
  return sendWithCookie("/session/me", { method: "POST" });
}

export function endSession(): Promise<Outcome<undefined>> {
  return sendWithCookie("/session", { method: "DELETE" });
}

export function redeemInvitation(secret: string, remember: boolean): Promise<Outcome<unknown>> {
  return sendWithCookie("/session/invitations", { method: "POST", body: { secret, remember } });
}

/** Asks the browser for a passkey and signs in with it. Throws when the user or the browser refuses. */
export async function signInWithPasskey(): Promise<Outcome<unknown>> {
  const [{ startAuthentication }, options] = await Promise.all([
    import("@simplewebauthn/browser"),
    sendWithCookie<PublicKeyCredentialRequestOptionsJSON>("/session/passkeys/sign-in/options", { method: "POST" }),
  ]);
  if (!options.ok) return options;
  const body = await startAuthentication({ optionsJSON: options.value });
  return sendWithCookie("/session/passkeys/sign-in", { method: "POST", body });
}

/** Makes a passkey and adds it to the person who is signed in. Throws when the user or the browser refuses. */
export async function addPasskey(): Promise<Outcome<PasskeyResource>> {
  const [{ startRegistration }, options] = await Promise.all([
    import("@simplewebauthn/browser"),
    sendWithCookie<PublicKeyCredentialCreationOptionsJSON>("/session/passkeys/options", { method: "POST" }),
  ]);
  if (!options.ok) return options;
  const body: RegistrationResponseJSON = await startRegistration({ optionsJSON: options.value });
  return sendWithCookie("/session/passkeys", { method: "POST", body });
}

/** Where the browser goes to sign in with the chat platform. */
export const CHAT_SIGN_IN = "/session/chat";

export type OwnApi = ReturnType<typeof createOwnApi>;

/** What is one's own. `call` has a token of the session. */
export function createOwnApi(call: ApiCall) {
  return {
    listPasskeys: () => call<PasskeyList>("/session/passkeys"),
    deletePasskey: (id: string) =>
      sendWithCookie<undefined>(`/session/passkeys/${encodeURIComponent(id)}`, { method: "DELETE" }),
    listSessions: () => call<PersonSessionList>("/session/sessions"),
    endSession: (id: string) =>
      sendWithCookie<undefined>(`/session/sessions/${encodeURIComponent(id)}`, { method: "DELETE" }),
  };
}

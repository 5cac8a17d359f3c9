// Signing in: with an invitation, a passkey, or the chat platform. All of it begins on our own page, except the browser's way
// back from the chat platform, for which its state vouches.
import Type from "typebox";
import { ERRORS, isRefusal, refuse } from "../../core/errors.ts";
import {
  InvitationSignIn,
  MeResource,
  NewPasskey,
  PasskeyOptions,
  PasskeyResource,
  PasskeySignIn,
  SignInMethods,
} from "../../core/wire/people.ts";
import { type ChatProblem, type ChatSignIn, STATE_MS } from "../../gateway/people/chat-sign-in.ts";
import type { Passkeys } from "../../gateway/people/passkeys.ts";
import type { People } from "../../gateway/people/people.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { type OpenOperation, shows, takes } from "../operation.ts";
import { parseBody } from "../requests/parse-request.ts";
import type { OwnOrigin } from "../steps/own-origin.ts";
import { NO_SNIFFING } from "./page-headers.ts";
import { describePasskey, EITHER, ME, NEW_COOKIE, ORIGIN, SESSION_ERRORS, type SessionHandlers } from "./session.ts";
import { CHAT_COOKIE, clearCookie, readCookie, SESSION_COOKIE, writeCookie } from "./session-cookie.ts";

export type SignInDeps = { readonly signIn: SignInHandlers };

export type SignInHandlersDeps = {
  readonly people: People;
  readonly passkeys: Passkeys;
  /** Undefined when it is not set up. */
  readonly chat: ChatSignIn | undefined;
  readonly session: SessionHandlers;
  readonly ownOrigin: OwnOrigin;
  readonly publicUrl: string | undefined;
  readonly hasAdmin: boolean;
};

const NOT_SET_UP = refuse(ERRORS.notConfigured);
const OPTIONS = { challenge: "bjVRT3ZzZXhhbXBsZQ", rpId: "gatehouse.example.org", timeout: 300_000 };
const BASE64 = "EXAMPLEonly";
const CREDENTIAL = { id: BASE64, rawId: BASE64, type: "public-key", clientExtensionResults: {} };
/** Longer than the chat platform and the game API are waited for. */
const FINISH_MS = 20_000;
const SAME = "Every refusal is the same: 401 with code 5008.";
const WHY =
  "With `problem` in the fragment when nobody was signed in: `cancelled`, `expired`, `failed`, or `unknown` for a user whom nobody has invited.";

export const signInOperations = {
  readMethods: {
    id: "readSignInMethods",
    tag: "Signing in",
    summary: "Ask how people can sign in",
    description: "For everybody: what the sign-in page may offer at the address of this request.",
    answers: {
      200: shows("The methods.", SignInMethods, { passkeys: true, chat: false, admin: true }, "Passkeys only"),
    },
    answer: ({ signIn }, call) => signIn.answerMethods(call),
  },

  redeem: {
    id: "redeemInvitation",
    tag: "Signing in",
    summary: "Sign in with an invitation",
    description: `The secret is the text after the last slash of the link; it works once. With \`remember\` the session lasts 30 days after its last use, without it until the browser is closed, 12 hours at most. ${SAME} ${ORIGIN}`,
    body: takes(InvitationSignIn, { secret: "gti_EXAMPLEonlyEXAMPLEonlyEXAMPLEonlyEXAMPLEonly0", remember: true }),
    answers: { 201: { ...shows("Signed in.", MeResource, ME, "A moderator"), headers: NEW_COOKIE } },
    errors: SESSION_ERRORS.filter((name) => name !== "missingToken"),
    answer: ({ signIn }, call) => signIn.redeem(call),
  },

  describePasskey: {
    id: "describeNewPasskey",
    tag: "Signing in",
    summary: "Ask for what the browser needs to make a passkey",
    description: `Works over HTTPS at the address in GATEHOUSE_PUBLIC_URL, and on localhost without one; elsewhere 501. ${EITHER} ${ORIGIN}`,
    security: ["sessionCookie", "sessionToken"],
    answers: { 200: shows("For `navigator.credentials.create`.", PasskeyOptions, OPTIONS, "Shortened") },
    errors: [...SESSION_ERRORS, "conflict", "notConfigured"],
    answer: ({ signIn }, call) => signIn.describePasskey(call),
  },

  addPasskey: {
    id: "addPasskey",
    tag: "Signing in",
    summary: "Add a passkey",
    description: `At most ten. The body is what the browser made of the options, as JSON. ${EITHER} ${ORIGIN}`,
    security: ["sessionCookie", "sessionToken"],
    body: takes(NewPasskey, { ...CREDENTIAL, response: { clientDataJSON: BASE64, attestationObject: BASE64 } }),
    answers: {
      201: shows(
        "It signs you in from now on.",
        PasskeyResource,
        {
          passkey_id: "psk_x0PpV3mYbL1nKcD7w5tq",
          label: "Safari, iPhone",
          created_at: 1_794_722_314_688,
          last_used_at: null,
        },
        "Of a phone",
      ),
    },
    errors: [...SESSION_ERRORS, "conflict", "notConfigured"],
    answer: ({ signIn }, call) => signIn.addPasskey(call),
  },

  describeSignIn: {
    id: "describePasskeySignIn",
    tag: "Signing in",
    summary: "Ask for what the browser needs to sign in with a passkey",
    description: ORIGIN,
    answers: { 200: shows("For `navigator.credentials.get`.", PasskeyOptions, OPTIONS, "Shortened") },
    errors: ["forbidden", "notConfigured"],
    answer: ({ signIn }, call) => signIn.describeSignIn(call),
  },

  signInWithPasskey: {
    id: "signInWithPasskey",
    tag: "Signing in",
    summary: "Sign in with a passkey",
    description: `The body is what the browser made of the options, as JSON, and \`remember\`, true when it is left out. A passkey whose counter goes back is a copy, and is removed. ${SAME} ${ORIGIN}`,
    body: takes(PasskeySignIn, {
      ...CREDENTIAL,
      response: { clientDataJSON: BASE64, authenticatorData: BASE64, signature: BASE64 },
      remember: true,
    }),
    answers: { 201: { ...shows("Signed in.", MeResource, ME, "A moderator"), headers: NEW_COOKIE } },
    errors: [...SESSION_ERRORS.filter((name) => name !== "missingToken"), "notConfigured"],
    answer: ({ signIn }, call) => signIn.signInWithPasskey(call),
  },

  beginChat: {
    id: "beginChatSignIn",
    tag: "Signing in",
    summary: "Sign in with the chat platform",
    description: "A link for the browser to follow. Goes on at `/session/chat/return`.",
    parameters: [
      {
        name: "remember",
        in: "query",
        description: "`false`: the session goes with the browser.",
        schema: Type.String(),
        example: "false",
      },
    ],
    answers: { 302: { description: "To the chat platform.", headers: ["CacheControl", "Location", "SetCookie"] } },
    errors: ["notConfigured"],
    answer: ({ signIn }, call) => signIn.beginChat(call),
  },

  finishChat: {
    id: "finishChatSignIn",
    tag: "Signing in",
    summary: "Come back from the chat platform",
    description:
      "The chat platform sends the browser here. Takes the cookie of the sign-in that this browser began, within ten minutes and once.",
    answers: {
      302: { description: `To the dashboard. ${WHY}`, headers: ["CacheControl", "Location", "SetCookie"] },
    },
    errors: ["tooManyAttempts", "internal", "unavailable", "notConfigured"],
    answer: ({ signIn }, call) => signIn.finishChat(call),
  },
} satisfies Record<string, OpenOperation<SignInDeps>>;

export class SignInHandlers {
  constructor(private readonly deps: SignInHandlersDeps) {}

  /** The same for a listener that has no admin API. */
  withoutAdmin(): SignInHandlers {
    return new SignInHandlers({ ...this.deps, hasAdmin: false });
  }

  answerMethods(call: Call): Response {
    const { passkeys, chat, ownOrigin, publicUrl, hasAdmin } = this.deps;
    const seen = ownOrigin.find(call) ?? "";
    // Behind a proxy that is not trusted nobody knows whether the page came over TLS: then its host decides.
    const isPublic = publicUrl !== undefined && URL.parse(seen)?.host === URL.parse(publicUrl)?.host;
    const origin = isPublic ? publicUrl : seen;
    const methods: SignInMethods = {
      passkeys: origin !== "" && passkeys.findSite(origin) !== undefined,
      // The platform sends the browser back to the public address, where a cookie of another one does not count.
      chat: chat !== undefined && isPublic,
      admin: hasAdmin,
    };
    return answerJson(methods);
  }

  async redeem(call: Call): Promise<Response> {
    const { people, session } = this.deps;
    const body = await parseBody(call, InvitationSignIn);
    if (isRefusal(body)) return answerRefusal(call, body);
    const { secret, remember = false } = body.value;
    const opened = await people.redeem(secret, remember, session.describeClient(call), call.now);
    return isRefusal(opened) ? session.refuse(call, opened) : session.answerNew(call, opened);
  }

  describePasskey(call: Call): Promise<Response> {
    const { passkeys, session } = this.deps;
    return session.withEither(call, async (signedIn) => {
      const options = await passkeys.describeNew(signedIn, originOf(call), call.now);
      return isRefusal(options) ? answerRefusal(call, options) : answerJson(options);
    });
  }

  addPasskey(call: Call): Promise<Response> {
    const { passkeys, session } = this.deps;
    return session.withEither(call, async (signedIn) => {
      const body = await parseBody(call, NewPasskey);
      if (isRefusal(body)) return answerRefusal(call, body);
      const client = session.describeClient(call);
      const added = await passkeys.add(signedIn, body.value, originOf(call), client, call.now);
      return isRefusal(added) ? session.refuse(call, added) : answerJson(describePasskey(added), 201);
    });
  }

  async describeSignIn(call: Call): Promise<Response> {
    const options = await this.deps.passkeys.describeSignIn(originOf(call), call.now);
    return isRefusal(options) ? answerRefusal(call, options) : answerJson(options);
  }

  async signInWithPasskey(call: Call): Promise<Response> {
    const { passkeys, session } = this.deps;
    const body = await parseBody(call, PasskeySignIn);
    if (isRefusal(body)) return answerRefusal(call, body);
    const opened = await passkeys.signIn(body.value, originOf(call), session.describeClient(call), call.now);
    return isRefusal(opened) ? session.refuse(call, opened) : session.answerNew(call, opened);
  }

  async beginChat(call: Call): Promise<Response> {
    const { chat } = this.deps;
    if (!chat) return answerRefusal(call, NOT_SET_UP);
    const isRemembered = new URLSearchParams(call.target.query).get("remember") !== "false";
    const { url, cookie } = await chat.begin(isRemembered, call.now);
    return redirect(url, writeCookie(CHAT_COOKIE, this.#isSecure, cookie, STATE_MS / 1000));
  }

  async finishChat(call: Call): Promise<Response> {
    const { chat, session } = this.deps;
    if (!chat) return answerRefusal(call, NOT_SET_UP);
    const cookie = readCookie(call, CHAT_COOKIE, this.#isSecure) ?? "";
    const client = session.describeClient(call);
    call.extendIdleTimeout(FINISH_MS);
    const outcome = await chat.finish(new URLSearchParams(call.target.query), cookie, client, call.now);
    call.resetIdleTimeout();
    if (typeof outcome === "string") return this.#sendBack(outcome);
    if (isRefusal(outcome)) {
      const answer = session.refuse(call, outcome);
      return answer.status === ERRORS.invalidToken.status ? this.#sendBack("expired") : answer;
    }
    const { draft, secret } = outcome;
    const seconds = draft.isRemembered ? Math.floor((draft.expiresAt - call.now) / 1000) : undefined;
    return this.#sendBack(undefined, writeCookie(SESSION_COOKIE, this.#isSecure, secret, seconds));
  }

  /** To the dashboard, which says what went wrong. The cookie of the state is used up. */
  #sendBack(problem: ChatProblem | undefined, ...cookies: readonly string[]): Response {
    const page = `${this.deps.publicUrl ?? ""}/`;
    const url = problem === undefined ? page : `${page}#/?problem=${problem}`;
    return redirect(url, clearCookie(CHAT_COOKIE, this.#isSecure), ...cookies);
  }

  /** The chat platform needs a public address, so it tells what the browser sees. */
  get #isSecure(): boolean {
    return this.deps.publicUrl?.startsWith("https:") ?? false;
  }
}

function redirect(url: string, ...cookies: readonly string[]): Response {
  const headers = new Headers({
    Location: url,
    "Cache-Control": "no-store",
    ...NO_SNIFFING,
  });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 302, headers });
}

/** Our own page's, which was checked before. */
function originOf(call: Call): string {
  return call.request.headers.get("origin") ?? "";
}

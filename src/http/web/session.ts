// /session: what a person who is signed in does there. The cookie of a session is taken below this path and nowhere else; what
// the page gets is short-lived tokens for its memory.
import { isRefusal, type Refusal, StoreUnavailable } from "../../core/errors.ts";
import { parseBearer } from "../../core/keys/bearer.ts";
import { describeUserAgent } from "../../core/keys/describe-user-agent.ts";
import { toAbilityNames } from "../../core/keys/rights.ts";
import type { Passkey, PersonDetails, SessionDetails } from "../../core/ports/people.ts";
import type { Store } from "../../core/ports/store.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import {
  MeResource,
  PasskeyList,
  type PasskeyResource,
  PersonSessionList,
  type PersonSessionResource,
  PersonTokenResource,
  TokenRequest,
} from "../../core/wire/people.ts";
import { INVALID_TOKEN, MISSING_TOKEN } from "../../gateway/keys/authenticate.ts";
import type { GuessLimit } from "../../gateway/keys/authenticate-operator.ts";
import type { Passkeys } from "../../gateway/people/passkeys.ts";
import type { Client, NewSession, People, SessionOf, SignedIn } from "../../gateway/people/people.ts";
import { FOR_OWN } from "../../gateway/people/session-tokens.ts";
import { SERVER } from "../admin/servers.ts";
import { answerDone, answerJson, answerRefusal, STORE_UNAVAILABLE } from "../answers.ts";
import type { Call } from "../call.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { type OpenOperation, shows, takes } from "../operation.ts";
import { parseBody } from "../requests/parse-request.ts";
import { clearCookie, isSecurePage, readCookie, SESSION_COOKIE, writeCookie } from "./session-cookie.ts";

export type SessionDeps = { readonly session: SessionHandlers };

export type SessionHandlersDeps = {
  readonly store: Pick<Store, "people" | "sessions" | "passkeys" | "servers">;
  readonly people: People;
  readonly passkeys: Passkeys;
  readonly guesses: GuessLimit;
  readonly findAddress: (call: Call) => string;
};

const NOW = 1_794_722_314_688;
export const PERSON = {
  person_id: "per_3nVbT8yQxB4mHsZ1k9fW",
  name: "Alex",
  is_operator: false,
  servers: [{ server_id: SERVER.server_id, role: "moderator" }],
  player_id: "2890053314",
  chat_id: null,
  disabled: false,
  created_at: NOW - 86_400_000,
  last_seen_at: NOW,
  passkeys: 1,
  sessions: 1,
};
const SESSION = {
  session_id: "ses_9fWc2LrT6yQxB4mHsZ1k",
  description: "Firefox, Windows",
  created_at: NOW - 3_600_000,
  last_used_at: NOW,
  expires_at: NOW + 2_592_000_000,
  is_current: true,
};
const PASSKEY = {
  passkey_id: "psk_x0PpV3mYbL1nKcD7w5tq",
  label: "Safari, iPhone",
  created_at: NOW - 86_400_000,
  last_used_at: NOW,
};
const TOKEN = {
  token: `gts_9fWc2LrT6yQxB4mHsZ1k.${SERVER.server_id.slice(4)}.0mwh6wq80.${"EXAMPLEonly".repeat(4).slice(0, 43)}`,
  expires_at: NOW + 900_000,
  expires_in: 900,
  server_id: SERVER.server_id,
  session_id: SESSION.session_id,
  session_expires_at: SESSION.expires_at,
};
export const ME = {
  person: PERSON,
  servers: [
    {
      server_id: SERVER.server_id,
      name: SERVER.name,
      role: "moderator",
      title: "Moderator",
      may: ["claim", "notes", "exports"],
    },
  ],
  is_operator: false,
};

export const ORIGIN = "Needs the `Origin` of our own page, which browsers send by themselves; CORS never applies.";
export const NEW_COOKIE: readonly HeaderName[] = ["CacheControl", "SetCookie"];
export const SESSION_ERRORS: readonly ErrorName[] = [
  "missingToken",
  "invalidToken",
  "forbidden",
  "tooManyAttempts",
  "internal",
  "unavailable",
];
const OWN = "Takes a session token of any kind, and no cookie.";
export const EITHER = "Takes the session's cookie or one of its tokens.";
const TOKEN_ERRORS = SESSION_ERRORS.filter((name) => name !== "forbidden");

export const sessionOperations = {
  grant: {
    id: "grantToken",
    tag: "Signing in",
    summary: "Get a token for a server, the admin API or one's own page",
    description: `Takes the cookie of a session and nothing else. With \`server_id\` the token works for 15 minutes as a key with the rights of one's role there, without it for the admin API. Where one has no role: 403 with code 5009. With \`own\` everybody gets one for their own sessions and passkeys. ${ORIGIN} Does not count toward the limit.`,
    security: ["sessionCookie"],
    body: { ...takes(TokenRequest, { server_id: SERVER.server_id }), isRequired: false },
    answers: {
      200: {
        ...shows("A token for the page's memory.", PersonTokenResource, TOKEN, "For a server"),
        headers: ["CacheControl", "SetCookie"],
      },
    },
    errors: [...SESSION_ERRORS, "notFound"],
    answer: ({ session }, call) => session.grant(call),
  },

  end: {
    id: "endSession",
    tag: "Signing in",
    summary: "Sign this browser out",
    description: `Ends the session and its tokens at once, and deletes the cookie. Answers the same without a session. ${ORIGIN}`,
    security: ["sessionCookie", "optional"],
    answers: {
      204: { description: "Nobody is signed in any more.", headers: NEW_COOKIE },
      // Not among the errors, because it deletes the cookie too.
      503: {
        error: "unavailable",
        description: "The cookie is deleted all the same.",
        headers: ["RequestIdSometimes", "CacheControl", "RetryAfter", "SetCookie"],
      },
    },
    errors: ["forbidden", "internal"],
    answer: ({ session }, call) => session.end(call),
  },

  me: {
    id: "readMe",
    tag: "Signing in",
    summary: "Ask who is signed in",
    description: `The person, and where they may go. ${OWN}`,
    security: ["sessionToken"],
    answers: { 200: shows("The person.", MeResource, ME, "A moderator") },
    errors: TOKEN_ERRORS,
    answer: ({ session }, call) => session.withToken(call, (signedIn) => session.answerMe(call, signedIn)),
  },

  meByCookie: {
    id: "findMe",
    tag: "Signing in",
    summary: "Ask who is signed in, by cookie",
    description: `The same for a page that has no token yet, because it does not know which servers to ask for. Takes the cookie of a session and nothing else. ${ORIGIN}`,
    security: ["sessionCookie"],
    answers: { 200: shows("The person.", MeResource, ME, "A moderator") },
    errors: SESSION_ERRORS,
    answer: ({ session }, call) => session.withCookie(call, (signedIn) => session.answerMe(call, signedIn)),
  },

  listSessions: {
    id: "listOwnSessions",
    tag: "Signing in",
    summary: "List your sessions",
    description: `The browsers in which you are signed in, the most recently used first, at most ten. ${OWN}`,
    security: ["sessionToken"],
    answers: { 200: shows("Your sessions.", PersonSessionList, { items: [SESSION] }, "One browser") },
    errors: TOKEN_ERRORS,
    answer: ({ session }, call) => session.withToken(call, (signedIn) => session.listSessions(call, signedIn)),
  },

  endOne: {
    id: "endOwnSession",
    tag: "Signing in",
    summary: "End one of your sessions",
    description: `Its tokens end with it, at once and on every instance. ${EITHER} ${ORIGIN}`,
    security: ["sessionCookie", "sessionToken"],
    answers: { 204: { description: "It has ended." } },
    errors: [...SESSION_ERRORS, "notFound"],
    answer: ({ session }, call) => session.withEither(call, (signedIn) => session.endOne(call, signedIn)),
  },

  listPasskeys: {
    id: "listOwnPasskeys",
    tag: "Signing in",
    summary: "List your passkeys",
    description: OWN,
    security: ["sessionToken"],
    answers: { 200: shows("Your passkeys.", PasskeyList, { items: [PASSKEY] }, "One passkey") },
    errors: TOKEN_ERRORS,
    answer: ({ session }, call) => session.withToken(call, (signedIn) => session.listPasskeys(signedIn)),
  },

  removePasskey: {
    id: "removeOwnPasskey",
    tag: "Signing in",
    summary: "Remove one of your passkeys",
    description: `Sessions that began with it go on. ${EITHER} ${ORIGIN}`,
    security: ["sessionCookie", "sessionToken"],
    answers: { 204: { description: "It signs nobody in any more." } },
    errors: [...SESSION_ERRORS, "notFound"],
    answer: ({ session }, call) => session.withEither(call, (signedIn) => session.removePasskey(call, signedIn)),
  },
} satisfies Record<string, OpenOperation<SessionDeps>>;

type AnswerSignedIn = (signedIn: SignedIn) => Promise<Response>;

export class SessionHandlers {
  constructor(private readonly deps: SessionHandlersDeps) {}

  /** Before what takes a token and no cookie. */
  async withToken(call: Call, answer: AnswerSignedIn): Promise<Response> {
    const bearer = parseBearer(call.request.headers.get("authorization"));
    if (bearer.kind === "missing") return answerRefusal(call, MISSING_TOKEN);
    const token = bearer.kind === "token" ? bearer.token : "";
    const signedIn = await this.deps.people.findByToken(token, call.now);
    return signedIn ? answer(signedIn) : this.refuse(call, INVALID_TOKEN);
  }

  /** Before what takes a cookie. Only behind the step that lets our own page through. */
  async withCookie(call: Call, answer: AnswerSignedIn): Promise<Response> {
    const secret = readCookie(call, SESSION_COOKIE, isSecurePage(call));
    if (secret === undefined) return answerRefusal(call, MISSING_TOKEN);
    const signedIn = await this.deps.people.findBySecret(secret, call.now);
    return signedIn ? answer(signedIn) : this.refuse(call, INVALID_TOKEN);
  }

  withEither(call: Call, answer: AnswerSignedIn): Promise<Response> {
    const hasToken = call.request.headers.has("authorization");
    return hasToken ? this.withToken(call, answer) : this.withCookie(call, answer);
  }

  async grant(call: Call): Promise<Response> {
    const body = await parseBody(call, TokenRequest, false);
    if (isRefusal(body)) return answerRefusal(call, body);
    return this.withCookie(call, async (signedIn) => {
      const { own = false, server_id: wanted = own ? FOR_OWN : undefined } = body.value;
      const granted = await this.deps.people.grant(signedIn, wanted, call.now);
      if (isRefusal(granted)) return answerRefusal(call, granted);
      const { token, expiresAt, serverId, session } = granted;
      const resource: PersonTokenResource = {
        token,
        expires_at: expiresAt,
        expires_in: Math.floor((expiresAt - call.now) / 1000),
        server_id: serverId === FOR_OWN ? null : serverId,
        session_id: session.sessionId,
        session_expires_at: session.expiresAt,
      };
      const secret = readCookie(call, SESSION_COOKIE, isSecurePage(call)) ?? "";
      return this.#setCookie(call, answerJson(resource), secret, session);
    });
  }

  /** Answers the same for every cookie, so that nobody learns which one is a session's. */
  async end(call: Call): Promise<Response> {
    const isEnded = await this.#endSession(call);
    const response = isEnded ? answerDone() : answerRefusal(call, STORE_UNAVAILABLE);
    // Also when the store is away: whoever signs out must not leave the cookie behind in this browser.
    response.headers.set("Set-Cookie", clearCookie(SESSION_COOKIE, isSecurePage(call)));
    return response;
  }

  async answerMe(call: Call, signedIn: SessionOf, status = 200): Promise<Response> {
    const { store, people } = this.deps;
    const { person } = signedIn;
    const [details, roles] = await Promise.all([
      store.people.findDetails(person.personId, call.now),
      people.listRolesOf(signedIn, call.now),
    ]);
    if (!details) return answerRefusal(call, INVALID_TOKEN);
    const servers = Array.from(roles, ([serverId, { name: role, title, may }]) => {
      const name = store.servers.find(serverId)?.name ?? "";
      return { server_id: serverId, name, role, title, may: toAbilityNames(may) };
    });
    const me: MeResource = { person: describePerson(details), servers, is_operator: person.isOperator };
    return answerJson(me, status);
  }

  async listSessions(call: Call, { person, session }: SignedIn): Promise<Response> {
    const sessions = await this.deps.store.sessions.list(person.personId, call.now);
    const items = sessions.map((one) => describeSession(one, session.sessionId));
    return answerJson({ items } satisfies PersonSessionList);
  }

  async endOne(call: Call, signedIn: SignedIn): Promise<Response> {
    const { id = "" } = call.target.params;
    const refusal = await this.deps.people.end(signedIn, id, this.describeClient(call), call.now);
    return refusal ? answerRefusal(call, refusal) : answerDone();
  }

  async listPasskeys({ person }: SignedIn): Promise<Response> {
    const passkeys = await this.deps.store.passkeys.list(person.personId);
    return answerJson({ items: passkeys.map(describePasskey) } satisfies PasskeyList);
  }

  async removePasskey(call: Call, signedIn: SignedIn): Promise<Response> {
    const { id = "" } = call.target.params;
    const refusal = await this.deps.passkeys.remove(signedIn, id, this.describeClient(call), call.now);
    return refusal ? answerRefusal(call, refusal) : answerDone();
  }

  /** The answer to a sign-in. A browser has one cookie: the session that it had before ends. */
  async answerNew(call: Call, { person, draft, secret }: NewSession): Promise<Response> {
    await this.#endSession(call);
    const session = { ...draft, personId: person.personId, createdAt: call.now, lastUsedAt: call.now };
    const answer = await this.answerMe(call, { person, session }, 201);
    // The session may have ended meanwhile, with the person or their role.
    return answer.ok ? this.#setCookie(call, answer, secret, draft) : answer;
  }

  /** Counts wrong secrets. */
  refuse(call: Call, refusal: Refusal): Response {
    const { guesses, findAddress } = this.deps;
    // The store may have taken its time.
    call.readClock();
    return answerRefusal(call, guesses.judge(refusal, findAddress(call), call.now));
  }

  describeClient(call: Call): Client {
    const description = describeUserAgent(call.request.headers.get("user-agent"));
    return { address: this.deps.findAddress(call), description };
  }

  /** Ends the session whose cookie comes with the request, if it is one. False when the store cannot answer. */
  async #endSession(call: Call): Promise<boolean> {
    const { people } = this.deps;
    const secret = readCookie(call, SESSION_COOKIE, isSecurePage(call));
    try {
      const signedIn = secret === undefined ? undefined : await people.findBySecret(secret, call.now);
      if (signedIn) await people.end(signedIn, signedIn.session.sessionId, this.describeClient(call), call.now);
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) return false;
      throw error;
    }
  }

  #setCookie(
    call: Call,
    response: Response,
    secret: string,
    { isRemembered, expiresAt }: Pick<SessionDetails, "isRemembered" | "expiresAt">,
  ): Response {
    const seconds = isRemembered ? Math.floor((expiresAt - call.now) / 1000) : undefined;
    response.headers.append("Set-Cookie", writeCookie(SESSION_COOKIE, isSecurePage(call), secret, seconds));
    return response;
  }
}

export function describePerson(person: PersonDetails): MeResource["person"] {
  return {
    person_id: person.personId,
    name: person.name,
    is_operator: person.isOperator,
    servers: person.servers.map(({ serverId, role }) => ({ server_id: serverId, role })),
    player_id: person.playerId,
    chat_id: person.chatId,
    disabled: person.isDisabled,
    created_at: person.createdAt,
    last_seen_at: person.lastSeenAt,
    passkeys: person.passkeys,
    sessions: person.sessions,
  };
}

/** `currentId` is the session that asks. */
export function describeSession(session: SessionDetails, currentId?: string): PersonSessionResource {
  return {
    session_id: session.sessionId,
    description: session.description,
    created_at: session.createdAt,
    last_used_at: session.lastUsedAt,
    expires_at: session.expiresAt,
    ...(currentId !== undefined && { is_current: session.sessionId === currentId }),
  };
}

export function describePasskey({ passkeyId, label, createdAt, lastUsedAt }: Passkey): PasskeyResource {
  return { passkey_id: passkeyId, label, created_at: createdAt, last_used_at: lastUsedAt };
}

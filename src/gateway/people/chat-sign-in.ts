// Signing in with the chat platform: who has the chat id of a person is that person, and the owners of a server may come
// without an invitation. The state of a sign-in is signed, in a cookie of the browser that began it, and counts once.
import { HOUR_MS } from "../../core/durations.ts";
import type { Refusal } from "../../core/errors.ts";
import { AttemptCounter, type AttemptRule } from "../../core/keys/attempt-limit.ts";
import { type RandomBytes, randomBase62 } from "../../core/keys/token.ts";
import { PERSON_NAME_MAX, type Person } from "../../core/people/person.ts";
import { GATEHOUSE } from "../../core/ports/audit.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";
import { createThrottle } from "../../core/throttle.ts";
import { INVALID_TOKEN } from "../keys/authenticate.ts";
import { GUESSING_ADDRESSES_MAX, refuseAttempt } from "../keys/authenticate-operator.ts";
import type { ChatPlatform, ChatUser } from "./chat-platform.ts";
import type { Owners } from "./owners.ts";
import type { Client, NewSession, People } from "./people.ts";
import type { SignedTexts, SignedValue } from "./signed-texts.ts";

export const STATE_MS = 10 * 60_000;
const NONCE_LENGTH = 32;
const PURPOSE = "chat";
const REMEMBERED = "r";
const UNREMEMBERED = "u";
/** So many names are tried for an owner whose name somebody else has. */
const NAMES_TRIED = 20;
/** Characters that are invisible or change how others are displayed. */
const INVISIBLE = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
const OAUTH_CODE = /^[a-z_]{1,50}$/;
const FAULT_LOG_MS = 60_000;
const ASKING: AttemptRule = { max: 20, windowMs: 60_000 };
/** So many refusals are told in the audit log, so that nobody can fill it. */
const AUDITED: AttemptRule = { max: 100, windowMs: HOUR_MS };
/** What a state looks like. The others need no look at the store. */
const STATE = new RegExp(`^[${REMEMBERED}${UNREMEMBERED}][0-9A-Za-z]{${NONCE_LENGTH}}$`);
/** What the platform says of a code that was used before, or was never given. */
const CODE_REFUSED = "invalid_grant";
/** So many sign-ins ask the platform at a time. */
const IN_FLIGHT_MAX = 20;

/** Why nobody was signed in. `unknown`: no person has this chat id, and no server that lets its owners in. */
export const CHAT_PROBLEMS = ["cancelled", "expired", "failed", "unknown"] as const;
export type ChatProblem = (typeof CHAT_PROBLEMS)[number];

export type ChatSignInDeps = {
  readonly store: Pick<Store, "people" | "sessions" | "challenges" | "audit" | "catchUp">;
  readonly people: People;
  readonly owners: Owners;
  readonly platform: ChatPlatform;
  readonly texts: SignedTexts;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
};

export class ChatSignIn {
  readonly #throttle = createThrottle(FAULT_LOG_MS);
  /** By address: states are easily had, and each asks the platform. */
  readonly #asking = new AttemptCounter(ASKING, GUESSING_ADDRESSES_MAX);
  readonly #audited = new AttemptCounter(AUDITED, 1);
  #inFlight = 0;

  constructor(private readonly deps: ChatSignInDeps) {}

  /** Where the browser goes, and the cookie that it has to come back with. */
  async begin(isRemembered: boolean, now: number): Promise<{ readonly url: string; readonly cookie: string }> {
    const { platform, texts, randomBytes } = this.deps;
    const value = (isRemembered ? REMEMBERED : UNREMEMBERED) + randomBase62(NONCE_LENGTH, randomBytes);
    const cookie = texts.seal(PURPOSE, { value, expiresAt: now + STATE_MS });
    return { url: await platform.writeAddress(value, this.#verifierOf(value)), cookie };
  }

  /** A refusal means that the state is wrong or was used before, or that too many come from the address. */
  async finish(
    parameters: URLSearchParams,
    cookie: string,
    client: Client,
    now: number,
  ): Promise<NewSession | ChatProblem | Refusal> {
    // Counted first: using a state up is a write, and each one leads to a call.
    const seconds = this.#asking.count(client.address, now);
    if (seconds !== undefined) return refuseAttempt(seconds);
    const state = await this.#spendState(parameters.get("state") ?? "", cookie, client, now);
    if (!state) return INVALID_TOKEN;
    if (parameters.get("error") === "access_denied") return "cancelled";
    const user = await this.#findUser(parameters, state.value, client, now);
    if (!user) return "failed";
    const person = await this.#findPerson(user, client, now);
    if (!person || person.isDisabled) return "unknown";
    const isRemembered = state.value.startsWith(REMEMBERED);
    const { sessions } = this.deps.store;
    const opened = await this.deps.people.signIn(person, "chat", isRemembered, client, now, ({ draft, note }) =>
      sessions.add(person.personId, draft, now, note),
    );
    // Somebody has disabled or deleted the person meanwhile.
    return opened === INVALID_TOKEN ? "unknown" : opened;
  }

  async #spendState(state: string, cookie: string, client: Client, now: number): Promise<SignedValue | undefined> {
    const { texts, store } = this.deps;
    const { challenges } = store;
    const opened = texts.open(PURPOSE, cookie, now);
    if (opened?.value === state && (await challenges.use(state, opened.expiresAt, now))) return opened;
    // Also without the cookie: whoever got hold of the address comes with another browser.
    if (STATE.test(state) && (await challenges.isUsed(state))) await this.#noteRefusal("state_repeated", client, now);
    return undefined;
  }

  async #noteRefusal(reason: "state_repeated" | "code_refused", { address }: Client, now: number): Promise<void> {
    if (this.#audited.count("", now) !== undefined) return;
    const details = { after: { reason } };
    await this.deps.store.audit.add("chat", {
      at: now,
      action: "chat.refused",
      actor: { ...GATEHOUSE, address },
      details,
    });
  }

  /** The secret of PKCE: made of the state, so that no browser has to keep it. */
  #verifierOf(state: string): string {
    return this.deps.texts.derive("chat-verifier", state);
  }

  async #findUser(
    parameters: URLSearchParams,
    state: string,
    client: Client,
    now: number,
  ): Promise<ChatUser | undefined> {
    const { platform, log } = this.deps;
    if (this.#inFlight >= IN_FLIGHT_MAX) return undefined;
    this.#inFlight++;
    try {
      return await platform.findUser(parameters, state, this.#verifierOf(state));
    } catch (error) {
      // Whatever the platform or the network did, nobody is signed in. The error holds neither code nor token.
      this.#throttle(now, (unlogged) => {
        log.warn({ ...describeError(error), unlogged }, "a sign-in with the chat platform failed");
      });
      if (findCode(error) === CODE_REFUSED) await this.#noteRefusal("code_refused", client, now);
      return undefined;
    } finally {
      this.#inFlight--;
    }
  }

  async #findPerson(user: ChatUser, client: Client, now: number): Promise<Person | undefined> {
    const { store, owners } = this.deps;
    await store.catchUp();
    const known = store.people.findByChatId(user.id);
    if (known) return known;
    const owned = await owners.listOwned(user.id, now, true);
    return owned.length === 0 ? undefined : this.#addOwner(user, client, now);
  }

  /** An owner who comes for the first time. Without roles: these follow from the readings. */
  async #addOwner({ id, name: chosen }: ChatUser, { address }: Client, now: number): Promise<Person | undefined> {
    const { people } = this.deps.store;
    const base = chosen.replace(INVISIBLE, " ").trim() || "Owner";
    for (let tried = 1; tried <= NAMES_TRIED; tried++) {
      const ending = tried === 1 ? "" : ` ${tried === NAMES_TRIED ? id : tried}`;
      const name = shorten(base, PERSON_NAME_MAX - ending.length) + ending;
      const draft = { name, isOperator: false, servers: [], playerId: null, chatId: id, isDisabled: false };
      const details = { after: { name, chat_id: id } };
      const made = await people.create(draft, now, {
        at: now,
        action: "person.created",
        actor: { ...GATEHOUSE, address },
        details,
      });
      if (!("refused" in made)) return made;
      if (made.refused !== "name_taken") return people.findByChatId(id);
    }
    return undefined;
  }
}

/** At most so many UTF-16 units, and no half of a character. */
function shorten(text: string, lengthMax: number): string {
  let short = "";
  for (const character of text) {
    if (short.length + character.length > lengthMax) break;
    short += character;
  }
  return short.trimEnd();
}

/** Without what the platform said: only the library's own words, and the code of OAuth2. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { reason: "unknown" };
  const code = findCode(error);
  return { reason: error.message, ...(code !== undefined && { code }) };
}

/** The code of OAuth2, when the platform gave one. */
function findCode(error: unknown): string | undefined {
  const code = error instanceof Error && "error" in error ? error.error : undefined;
  return typeof code === "string" && OAUTH_CODE.test(code) ? code : undefined;
}

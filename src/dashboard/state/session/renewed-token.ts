// A token that renews itself for as long as the browser is signed in as a person.
import type { PersonTokenResource, TokenRequest } from "../../../core/wire/people.ts";
import type { TokenSource } from "../../api/request.ts";
import { grantToken } from "../../api/session.ts";

/** A token, the session that it is of, and how long it works from now. */
export type GrantedToken = { readonly token: string; readonly sessionId: string; readonly lifetimeMs: number };

/** Renewed when this part of its life is over. */
const RENEW_AT = 2 / 3;
/** After a renewal that failed while the token still works. */
const RETRY_MS = 20_000;

function toGranted({ token, session_id, expires_in }: PersonTokenResource): GrantedToken {
  return { token, sessionId: session_id, lifetimeMs: expires_in * 1000 };
}

/** Without `first` it is asked for when it is first used. `request` says what the token is for. */
export function renewToken(request: TokenRequest, first?: PersonTokenResource): RenewedToken {
  const grant = async () => {
    const outcome = await grantToken(request);
    return outcome.ok ? toGranted(outcome.value) : undefined;
  };
  return new RenewedToken(first && toGranted(first), grant);
}

export class RenewedToken implements TokenSource {
  readonly #grant: () => Promise<GrantedToken | undefined>;
  readonly #now: () => number;
  #sessionId: string | undefined;
  #token = "";
  #renewAt = 0;
  #expiresAt = 0;
  #renewal: Promise<void> | undefined;

  /** `grant` asks for a new token; undefined when there is none to be had now. */
  constructor(
    first: GrantedToken | undefined,
    grant: () => Promise<GrantedToken | undefined>,
    now: () => number = Date.now,
  ) {
    this.#grant = grant;
    this.#now = now;
    if (first) this.#take(first);
  }

  /** The token to send now. Waits only when the one at hand has expired: after the computer has slept, for example. */
  async current(): Promise<string> {
    const now = this.#now();
    if (now >= this.#expiresAt) await this.#renew();
    else if (now >= this.#renewAt) void this.#renew();
    return this.#token;
  }

  async replace(refused: string): Promise<string | undefined> {
    if (this.#token === refused) await this.#renew();
    return this.#token === refused ? undefined : this.#token;
  }

  #renew(): Promise<void> {
    this.#renewal ??= this.#grant()
      .then((granted) => {
        // Another tab may have signed this browser in as somebody else.
        const isOwn = this.#sessionId === undefined || granted?.sessionId === this.#sessionId;
        if (granted && isOwn) this.#take(granted);
        else this.#renewAt = this.#now() + RETRY_MS;
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }

  #take({ token, sessionId, lifetimeMs }: GrantedToken): void {
    const now = this.#now();
    this.#sessionId = sessionId;
    this.#token = token;
    this.#renewAt = now + lifetimeMs * RENEW_AT;
    this.#expiresAt = now + lifetimeMs;
  }
}

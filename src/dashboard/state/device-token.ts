// The session token of a signed-in device, in memory only: renewed before it expires, by one request however many ask for it.
// Knows nothing of React.
import type { TokenSource } from "../api/request.ts";

/** A token, the key that it works as, and how long it works from now. */
export type GrantedToken = { readonly token: string; readonly keyId: string; readonly lifetimeMs: number };

/** Renewed when this part of its life is over. */
const RENEW_AT = 2 / 3;
/** After a renewal that failed while the token still works. */
const RETRY_MS = 20_000;

export class DeviceToken implements TokenSource {
  readonly #grant: () => Promise<GrantedToken | undefined>;
  readonly #now: () => number;
  readonly #keyId: string;
  #token = "";
  #renewAt = 0;
  #expiresAt = 0;
  #renewal: Promise<void> | undefined;

  /** `grant` asks for a new token; undefined when there is none to be had now. */
  constructor(
    first: GrantedToken,
    grant: () => Promise<GrantedToken | undefined>,
    now: () => number = Date.now,
  ) {
    this.#grant = grant;
    this.#now = now;
    this.#keyId = first.keyId;
    this.#take(first);
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
        // Another tab may have signed this browser in with another key, which may be for another server.
        if (granted?.keyId === this.#keyId) this.#take(granted);
        else this.#renewAt = this.#now() + RETRY_MS;
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }

  #take({ token, lifetimeMs }: GrantedToken): void {
    const now = this.#now();
    this.#token = token;
    this.#renewAt = now + lifetimeMs * RENEW_AT;
    this.#expiresAt = now + lifetimeMs;
  }
}

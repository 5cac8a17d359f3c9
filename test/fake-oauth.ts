// A chat platform with OAuth2 on loopback. It is strict: a request for consent must have what it asks for, and a code is good
// once, for the client, the address and the verifier that it was made for. `refused` has everything that it did not want to get.
import { createHash, randomBytes } from "node:crypto";

export const CLIENT = { id: "1000000000000000077", secret: "s3cret-of-the-client-0123456789" };

type Consent = { readonly challenge: string; readonly redirect: string; readonly user: string };
type User = { readonly id: string; readonly username: string; readonly global_name: string | null };

export class FakeOauth {
  readonly refused: string[] = [];
  /** Who is signed in at the platform. */
  user: User = { id: "100000000000000001", username: "alex", global_name: "Alex" };
  /** What the platform does instead of answering with the user. */
  fault: "none" | "token" | "user" | "long" | "silent" = "none";
  readonly #codes = new Map<string, Consent>();
  readonly #tokens = new Map<string, User>();
  readonly #server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: (request) => this.#answer(request),
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  stop(): void {
    this.#server.stop(true);
  }

  /** The user agrees: where the platform sends the browser back to. */
  agree(address: string): string {
    const url = new URL(address);
    const asked = Object.fromEntries(url.searchParams);
    if (url.origin !== this.url || url.pathname !== "/oauth2/authorize") this.refused.push(`address ${address}`);
    if (asked.client_id !== CLIENT.id || asked.response_type !== "code") this.refused.push("client or type");
    if (asked.scope !== "identify") this.refused.push(`scope ${asked.scope}`);
    if (asked.code_challenge_method !== "S256" || !/^[\w-]{43}$/.test(asked.code_challenge ?? ""))
      this.refused.push("no PKCE");
    if (!asked.state || asked.state.length < 20) this.refused.push("no state");
    const code = randomBytes(15).toString("base64url");
    const redirect = asked.redirect_uri ?? "";
    this.#codes.set(code, { challenge: asked.code_challenge ?? "", redirect, user: this.user.id });
    return `${redirect}?${new URLSearchParams({ code, state: asked.state ?? "" })}`;
  }

  /** The user does not agree. */
  decline(address: string): string {
    const { redirect_uri = "", state = "" } = Object.fromEntries(new URL(address).searchParams);
    return `${redirect_uri}?${new URLSearchParams({ error: "access_denied", state })}`;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (this.fault === "silent") return new Promise(() => {});
    if (request.method === "POST" && pathname === "/api/oauth2/token") return this.#giveToken(request);
    if (pathname === "/api/users/@me") return this.#tellUser(request);
    this.refused.push(`${request.method} ${pathname}`);
    return new Response(null, { status: 404 });
  }

  async #giveToken(request: Request): Promise<Response> {
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    const consent = this.#codes.get(form.code ?? "");
    this.#codes.delete(form.code ?? "");
    const challenge = createHash("sha256")
      .update(form.code_verifier ?? "")
      .digest("base64url");
    const isRight =
      form.grant_type === "authorization_code" && form.client_id === CLIENT.id && form.client_secret === CLIENT.secret;
    if (!isRight || !consent || consent.challenge !== challenge || consent.redirect !== form.redirect_uri) {
      this.refused.push("code");
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    if (this.fault === "token") return Response.json({ error: "invalid_client" }, { status: 401 });
    const token = randomBytes(15).toString("base64url");
    this.#tokens.set(token, this.user);
    return Response.json({ access_token: token, token_type: "Bearer", expires_in: 604_800, scope: "identify" });
  }

  #tellUser(request: Request): Response {
    const user = this.#tokens.get(request.headers.get("authorization")?.replace("Bearer ", "") ?? "");
    if (!user) return Response.json({ message: "401: Unauthorized" }, { status: 401 });
    if (this.fault === "user") return Response.json({ id: "not a number" });
    return this.fault === "long" ? new Response("x".repeat(1_000_000)) : Response.json(user);
  }
}

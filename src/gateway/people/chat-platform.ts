// The chat platform's OAuth2: where its users are asked, and who answered. The library is loaded with the first sign-in.

/** How long the two calls of one sign-in may take together. */
const DEADLINE_MS = 8_000;
/** No answer of the platform is longer. */
const ANSWER_BYTES_MAX = 64 * 1024;

const loadLibrary = () => import("oauth4webapi");

export type ChatPlatformSettings = {
  /** Without a path. http for an address on this machine only. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the platform sends the browser back to. */
  readonly returnUrl: string;
};

/** `name` is text of that user's choice. */
export type ChatUser = { readonly id: string; readonly name: string };

export class ChatPlatform {
  constructor(private readonly settings: ChatPlatformSettings) {}

  /** Where the browser goes. `verifier` is the secret of PKCE, of which only a hash leaves us now. */
  async writeAddress(state: string, verifier: string): Promise<string> {
    const { calculatePKCECodeChallenge } = await loadLibrary();
    const { baseUrl, clientId, returnUrl } = this.settings;
    const url = new URL("/oauth2/authorize", baseUrl);
    url.search = new URLSearchParams({
      client_id: clientId,
      response_type: "code",
      redirect_uri: returnUrl,
      scope: "identify",
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    }).toString();
    return url.href;
  }

  /** Who came back with these parameters. Throws when the platform refuses, fails or takes too long. */
  async findUser(parameters: URLSearchParams, state: string, verifier: string): Promise<ChatUser> {
    const oauth = await loadLibrary();
    const { baseUrl, clientId, clientSecret, returnUrl } = this.settings;
    const server = { issuer: baseUrl, token_endpoint: new URL("/api/oauth2/token", baseUrl).href };
    const client = { client_id: clientId };
    const options = {
      [oauth.customFetch]: fetchShort,
      [oauth.allowInsecureRequests]: baseUrl.startsWith("http:"),
      signal: AbortSignal.timeout(DEADLINE_MS),
    };
    const valid = oauth.validateAuthResponse(server, client, parameters, state);
    const authentication = oauth.ClientSecretPost(clientSecret);
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      valid,
      returnUrl,
      verifier,
      options,
    );
    const { access_token } = await oauth.processAuthorizationCodeResponse(server, client, answer);
    const url = new URL("/api/users/@me", baseUrl);
    const shown = await oauth.protectedResourceRequest(access_token, "GET", url, undefined, undefined, options);
    return parseUser(await shown.json());
  }
}

/** Keeps a wrong or hostile address from filling the memory. */
async function fetchShort(url: string, options: object): Promise<Response> {
  const answer = await fetch(url, { ...options, redirect: "manual" });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new Error("the chat platform's answer is too long");
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: answer.status, headers: answer.headers });
}

function parseUser(json: unknown): ChatUser {
  const { id, username, global_name } = (json ?? {}) as { id?: unknown; username?: unknown; global_name?: unknown };
  if (typeof id !== "string" || !/^[0-9]{1,20}$/.test(id)) throw new Error("the chat platform has named no user");
  const names = [global_name, username].filter((name) => typeof name === "string" && name !== "");
  return { id, name: String(names[0] ?? "") };
}

// The beginning of the document: what the service is, how to sign in, the limits, and all errors.
import { ERRORS } from "../../core/errors.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import type { SecurityName, TagName } from "../operation.ts";
import { ERROR_GUIDE, UPSTREAM_GUIDE } from "./error-guide.ts";

/**
 * Whom a document is for. Callers get only what can be used with an API key or without any; clients of the game API get the
 * façade, which is in no other document.
 */
export type Audience = "everybody" | "callers" | "facade";

export const SECURITY_SCHEMES: Readonly<Record<SecurityName, object>> = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "gth_…",
    description: "An API key, which the operator hands out. It belongs to one game server.",
  },
  sessionCookie: {
    type: "apiKey",
    in: "cookie",
    name: "__Secure-gatehouse_session",
    description:
      "The cookie of a person who is signed in; over plain HTTP its name is `gatehouse_session`. Only `/session` takes it.",
  },
  sessionToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "gts_…",
    description:
      "The token of a person who is signed in, for a server, the admin API or their own page. `POST /session` gives it.",
  },
  masterKey: {
    type: "http",
    scheme: "bearer",
    description: "The operator's master key: `GATEHOUSE_MASTER_KEY`, or `master.key` in the data folder.",
  },
  metricsToken: {
    type: "http",
    scheme: "bearer",
    description: "The token in `GATEHOUSE_METRICS_TOKEN`, for Prometheus.",
  },
  facadeKey: {
    type: "apiKey",
    in: "header",
    name: "server-key",
    description: "The façade key of an API key (`gth…-srv…`), or its token.",
  },
};

const DESCRIPTIONS: Readonly<Record<TagName, string>> = {
  Server: "The state of one game server: settings, and the sections that you ask for. And what your key may do.",
  Events:
    "What happened on the game server: every entry that Gatehouse saw, once and in order, with a mark where something may be missing.",
  History:
    "What was on the game server over days, weeks and months: how many players, who and for how long, what staff did, when it is full.",
  Players:
    "Who was ever there, what is known of them, notes about them, and their calls for a moderator: who waits, who is on the way.",
  Commands: "Commands for the game server: accepted means on disk, sent means once.",
  "Signing in":
    "For our own page in a browser: people sign in with an invitation, a passkey or the chat platform, and get short-lived tokens with the rights of their roles. Programs send a key.",
  "With a community": "The same endpoints with the server's community in the path: one limit, one queue.",
  "Game servers": "The game servers that Gatehouse relays. For operators.",
  Keys: "API keys and what they may do. For operators.",
  People: "People who sign in, their roles, and what roles may do. For operators.",
  Webhooks:
    "Where events are sent to: Discord channels, and programs that take Standard Webhooks. For operators, and for keys that may do `webhooks`: of their own server.",
  "Blocks, commands, audit": "Who is blocked, what was sent, who did what. For operators.",
  Façade: "The paths and shapes of the game API, for bots that were written for it.",
  "Public status": "How a server is, for everybody: only of servers whose operator has made it public.",
  Service: "The service itself: health, metrics, this document.",
  "Version 1": "Switched off. Every call is answered 500 with code 5018.",
};

export const TAGS = Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name: name as TagName, description }));

export const TAG_GROUPS: readonly { readonly name: string; readonly tags: readonly TagName[] }[] = [
  {
    name: "For callers",
    tags: ["Server", "Events", "History", "Players", "Commands", "With a community", "Signing in"],
  },
  { name: "For operators", tags: ["Game servers", "Keys", "People", "Webhooks", "Blocks, commands, audit"] },
  { name: "For everybody", tags: ["Public status"] },
  { name: "For bots of the game API", tags: ["Façade"] },
  { name: "Service", tags: ["Service", "Version 1"] },
];

/** Errors that no operation lists, because they come before an operation is found. */
const ERRORS_BEFORE_ROUTES: readonly ErrorName[] = ["notFound", "methodNotAllowed", "obsolete"];

const LICENSE = { name: "MIT", identifier: "MIT" };
const FACADE_USE =
  "Bots that were written for the game API change their address and their key, and nothing else. Send `server-key: <façade key>`. Errors have the game API's codes and form. Every counted answer has the four `X-RateLimit` headers. An unknown path is 404 with code 5020, another method 405 with code 5101.";

/** Operators get every error explained, callers those that they can get: `errors`, and those before an operation is found. */
export function describeService(version: string, audience: Audience, errors: ReadonlySet<ErrorName>) {
  if (audience === "facade") {
    const summary = "The game API as Gatehouse speaks it.";
    return { info: { title: "Gatehouse, façade", version, summary, description: FACADE_USE, license: LICENSE } };
  }
  const all = Object.keys(ERRORS) as ErrorName[];
  const isExplained = (name: ErrorName) => errors.has(name) || ERRORS_BEFORE_ROUTES.includes(name);
  const explained = audience === "callers" ? all.filter(isExplained) : all;
  return {
    info: {
      title: "Gatehouse",
      version,
      summary: "The state of a game server, and commands for it.",
      description: describeUse(audience, explained),
      license: LICENSE,
    },
  };
}

const OPERATORS_SIGN_IN =
  "The admin API takes the master key instead; a wrong one is 401 with code 5006. A document without what is for operators, for a bot's client: `/openapi.json?for=callers`.";

function describeUse(audience: Audience, errors: readonly ErrorName[]): string {
  return `Gatehouse stands between one busy game API and everyone who wants to know about a game server.

## Sign in

Send \`Authorization: Bearer <key>\`. Without a token the answer is 401 with code 5007, with an invalid one 401 with code 5008.
${audience === "callers" ? "" : OPERATORS_SIGN_IN}

## Clients

For TypeScript and Python, with the lines to copy: [/client/](/client/). Bots that were written for the game API:
\`/openapi.json?for=facade\`. The guides, whose programs run as printed, are beside Gatehouse's source: begin with \`docs/bots.md\`.

Names and values are case-sensitive. Only \`Players=true\` includes the section; \`Players=True\` is no error, and it is missing.

## Limits

Each key has 120 requests a minute, in windows of 60 seconds that begin with its first request. Every request with a valid key counts,
also one that is refused; only sending commands and signing in do not. Beyond the limit the answer is 429 with code 5016. A request 400 over the
limit begins a block of five minutes, 429 with code 5100, and every further minute of spam adds one, up to an hour ahead.

At most 100 commands wait for one game server.

## Errors

Every error is JSON with an integer \`code\` and a string \`message\`.

${errors
  .map((name) => {
    const { code, status, message } = ERRORS[name];
    const { when, advice } = ERROR_GUIDE[name];
    return `- **${code}** \`${message}\`, status ${status}. ${when} ${advice}`;
  })
  .join("\n")}

An error 5019 carries the code of the game API:

${Object.entries(UPSTREAM_GUIDE)
  .map(([code, { when, advice }]) => `- **${code}**: ${when} ${advice}`)
  .join("\n")}

An unknown path is 404 with code 5020; a known path with another method is 405 with code 5101 and an \`Allow\` header. \`HEAD\` works
wherever \`GET\` does. Every answer has \`X-Content-Type-Options: nosniff\`. \`OPTIONS\` is 405, unless the operator allows pages of other origins (\`GATEHOUSE_CORS_ORIGINS\`).

Ids of players and owners are integers that may exceed 2^53, and are relayed exactly: read them as 64-bit or big integers, or as text.
`;
}

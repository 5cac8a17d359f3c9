// The beginning of the document: what the service is, how to sign in, the limits, and all errors.
import { ERRORS } from "../../core/errors.ts";
import { ERROR_GUIDE, UPSTREAM_GUIDE } from "./error-guide.ts";
import type { SecurityName, TagName } from "./operation.ts";

export const SECURITY_SCHEMES: Readonly<Record<SecurityName, object>> = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "gth_…",
    description: "An API key, which the operator hands out. It belongs to one game server.",
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
};

const DESCRIPTIONS: Readonly<Record<TagName, string>> = {
  Server:
    "The state of one game server: settings, and the sections that you ask for. And what your key may do.",
  Commands: "Commands for the game server: accepted means on disk, sent means once.",
  "With a community": "The same endpoints with the server's community in the path: one limit, one queue.",
  "Game servers": "The game servers that Gatehouse relays. For operators.",
  Keys: "API keys and what they may do. For operators.",
  "Blocks, commands, audit": "Who is blocked, what was sent, who did what. For operators.",
  Service: "The service itself: health, metrics, this document.",
  "Version 1": "Switched off. Every call is answered 500 with code 5018.",
};

export const TAGS = Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name, description }));

export const TAG_GROUPS: readonly { readonly name: string; readonly tags: readonly TagName[] }[] = [
  { name: "For callers", tags: ["Server", "Commands", "With a community"] },
  { name: "For operators", tags: ["Game servers", "Keys", "Blocks, commands, audit"] },
  { name: "Service", tags: ["Service", "Version 1"] },
];

export function describeService(version: string) {
  return {
    info: {
      title: "Gatehouse",
      version,
      summary: "The state of a game server, and commands for it.",
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
  };
}

const DESCRIPTION = `Gatehouse stands between one busy game API and everyone who wants to know about a game server.

## Sign in

Send \`Authorization: Bearer <key>\`. Without a token the answer is 401 with code 5007, with an invalid one 401 with code 5008. The
admin API takes the master key instead; a wrong one is 401 with code 5006.

## Limits

Each key has 120 requests a minute, in windows of 60 seconds that begin with its first request. Every request with a valid key counts,
also one that is refused; only sending commands does not. Beyond the limit the answer is 429 with code 5016. A request 400 over the
limit begins a block of five minutes, 429 with code 5100, and every further minute of spam adds one, up to an hour ahead.

At most 100 commands wait for one game server.

## Errors

Every error is JSON with an integer \`code\` and a string \`message\`.

${Object.entries(ERRORS)
  .map(([name, { code, status, message }]) => {
    const { when, advice } = ERROR_GUIDE[name as keyof typeof ERRORS];
    return `- **${code}** \`${message}\`, status ${status}. ${when} ${advice}`;
  })
  .join("\n")}

An error 5019 carries the code of the game API:

${Object.entries(UPSTREAM_GUIDE)
  .map(([code, { when, advice }]) => `- **${code}**: ${when} ${advice}`)
  .join("\n")}

An unknown path is 404 with code 5020; a known path with another method is 405 with code 5101 and an \`Allow\` header. \`HEAD\` works
wherever \`GET\` does. \`OPTIONS\` is 405, unless the operator allows pages of other origins (\`GATEHOUSE_CORS_ORIGINS\`).
`;

// The operations for signing in from our own page. Programs send their key instead.
import type { ErrorName } from "../../core/wire/error.ts";
import { LinkSignIn, SessionResource } from "../../core/wire/session.ts";
import { SESSION } from "./examples.ts";
import type { HeaderName } from "./headers.ts";
import type { Answer, Operation, Operations } from "./operation.ts";

const ORIGIN = "Needs the `Origin` of our own page, which browsers send by themselves; CORS never applies.";
const NEW_DEVICE: readonly HeaderName[] = ["CacheControl", "SetCookie"];
const SESSION_ERRORS: readonly ErrorName[] = [
  "missingToken",
  "invalidToken",
  "forbidden",
  "versionForbidden",
  "tooManyAttempts",
  "internal",
  "unavailable",
];

export const SESSION_OPERATIONS: Operations = {
  "POST /session": operation("renewSession", "Get a token for this device", {
    description: `Takes the cookie of a device that is signed in and nothing else, and answers with a token that works as the device's key for 15 minutes. ${ORIGIN} The cookie counts here only: every other path needs a token. Does not count toward the limit.`,
    security: ["deviceCookie"],
    answers: { 200: answer(["CacheControl"], "A token for the page's memory.") },
    errors: SESSION_ERRORS,
  }),
  "DELETE /session": operation("endSession", "Sign this device out", {
    description: `Ends the device and its tokens at once, and deletes the cookie. Answers the same without a device. ${ORIGIN}`,
    security: ["deviceCookie", "optional"],
    answers: {
      204: { description: "No device is signed in any more.", headers: ["CacheControl", "SetCookie"] },
    },
    errors: ["forbidden", "internal", "unavailable"],
  }),
  "POST /session/devices": operation("rememberDevice", "Remember this device", {
    description: `Sets a cookie (HttpOnly, SameSite=Strict, for \`/session\` only) for 30 days, or until the key ends. A key has at most 20 devices; one more ends the one that was not used for the longest time. A session token is not enough. ${ORIGIN} Does not count toward the limit.`,
    security: ["apiKey"],
    answers: { 201: answer(NEW_DEVICE, "The device is remembered.") },
    errors: [...SESSION_ERRORS, "spamBlocked"],
  }),
  "POST /session/links": operation("redeemLink", "Sign in with a one-time link", {
    description: `The link's secret is the text after its last slash. With \`remember\` the device is remembered for 30 days, without it until the browser is closed, 12 hours at most. An unknown, used or expired link is 401 with code 5008. ${ORIGIN}`,
    security: [],
    body: {
      schema: LinkSignIn,
      isRequired: true,
      examples: {
        example: {
          summary: "An example",
          value: { link: "gtl_EXAMPLEonlyEXAMPLEonlyEXAMPLEonlyEXAMPLEonly0", remember: true },
        },
      },
    },
    answers: { 201: answer(NEW_DEVICE, "The device is signed in.") },
    errors: [
      "invalidToken",
      "forbidden",
      "versionForbidden",
      "tooManyAttempts",
      "internal",
      "unavailable",
      "invalidJson",
      "invalidRequest",
      "payloadTooLarge",
      "unsupportedMediaType",
    ],
  }),
};

function operation(
  id: string,
  summary: string,
  rest: Pick<Operation, "description" | "security" | "body" | "answers" | "errors">,
): Operation {
  return { id, tag: "Signing in", summary, ...rest };
}

function answer(headers: readonly HeaderName[], description: string): Answer {
  return {
    description,
    headers,
    schema: SessionResource,
    examples: { example: { summary: "An example", value: SESSION } },
  };
}

// The game API's error answers: codes, HTTP statuses, messages and body forms.
import type { Quirks } from "./quirks.ts";

export type Answer = { status: number; headers: Record<string, string>; body: string; code?: number };

const JSON_HEADERS = { "Content-Type": "application/json; charset=utf-8" };

const ERRORS: ReadonlyMap<number, readonly [status: number, message: string]> = new Map([
  [0, [500, "Unknown error occurred."]],
  [1001, [500, "An error occurred communicating with the game server."]],
  [1002, [500, "An internal system error occurred."]],
  [2000, [403, "No server-key was provided."]],
  [2001, [403, "An incorrectly formatted server-key was provided."]],
  [2002, [403, "An invalid or expired server-key was provided."]],
  [2003, [403, "An invalid global API key was provided."]],
  [2004, [403, "This server-key is banned from the API."]],
  [3001, [400, "A valid command was not provided in the request body."]],
  [3002, [422, "The server is currently offline (has no players)."]],
  [4000, [403, "This source is not authorized to run commands."]],
  [4001, [429, "You are being rate limited!"]],
  [4002, [403, "The command is restricted."]],
  [4003, [403, "The message contains prohibited text."]],
  [9998, [403, "The resource is restricted."]],
  [9999, [500, "The module running on the in-game server is out of date."]],
]);

export function answerJson(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(value) };
}

/** The shape of the body: {code, message}, {error, code}, or {message, commandId} without a code. */
export type ErrorForm = "message" | "error" | "command-id";
export type ErrorOverrides = {
  status?: number | undefined;
  message?: string | undefined;
  form?: ErrorForm | undefined;
};

export function answerError(code: number, overrides: ErrorOverrides = {}): Answer {
  const [usualStatus, usualMessage] = ERRORS.get(code) ?? [500, "Unknown error occurred."];
  const status = overrides.status ?? usualStatus;
  const message = overrides.message ?? usualMessage;
  return { ...answerJson(status, bodyOf(code, message, overrides.form ?? "message")), code };
}

function bodyOf(code: number, message: string, form: ErrorForm): Record<string, unknown> {
  if (form === "error") return { error: message, code };
  if (form === "command-id") return { message, commandId: "00000000-0000-4000-8000-000000000000" };
  return { code, message };
}

/** The body form of this error for this server, which follows from the seed. */
export function chooseErrorForm(quirks: Quirks, seed: number, serverId: string, code: number): ErrorForm {
  return quirks.affects("errorInsteadOfMessage", 4, seed, serverId, code) ? "error" : "message";
}

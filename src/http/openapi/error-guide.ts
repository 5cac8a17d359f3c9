// What each error means and what to do about it. The OpenAPI document and docs/errors.md take their texts from here.
import type { ErrorName } from "../../core/wire/error.ts";

export type Guidance = { readonly when: string; readonly advice: string };

export const ERROR_GUIDE: Readonly<Record<ErrorName, Guidance>> = {
  missingCommand: { when: "The body has no `command` text.", advice: 'Send `{"command": ":h hello"}`.' },
  invalidMasterKey: {
    when: "The master key is wrong, a person's token is none for the admin API or has ended, or an API key may do nothing there.",
    advice:
      "Check it: it is `GATEHOUSE_MASTER_KEY`, or in `master.key` in the data folder. People get a new token from `POST /session`. An API key needs `webhooks` in its `may`, and then may use `/admin/webhooks` alone.",
  },
  missingToken: { when: "There is no bearer token.", advice: "Send `Authorization: Bearer <key>`." },
  invalidToken: {
    when: "The key is mistyped, unknown, revoked or expired.",
    advice: "Check the key; ask the operator for a new one. Do not repeat the request with the same key.",
  },
  forbidden: {
    when: "The key is suspended, your address is not on its list, the community is another server's, the key may not send this command (for claims and notes: any command), or one's role (of an API key: its `may`) does not allow it. While signing in: the request does not come from our own page.",
    advice:
      "`details.reason` says which: `suspended`, `address` (`details.seen` is the address your request came from), `community`, `command`, `role` or `origin`. Ask the operator. What a key may do, `GET /v2/game/key` tells.",
  },
  versionForbidden: {
    when: "The key is not for this version of the API.",
    advice: "`details.versions` are the key's. Ask the operator for a key with version v2.",
  },
  sectionForbidden: {
    when: "A section was asked for that the key may not read, or a map, whose positions are hidden from it.",
    advice:
      "Leave out those in `details.sections`, or ask the operator for the right. With `details.hidden` it may read them, but not these fields. `GET /v2/game/key` lists both.",
  },
  queueFull: {
    when: "100 commands wait for this game server already, or 20,000 idempotency keys of forgotten commands are remembered for this API key.",
    advice: "Wait `retry_after` seconds. Nothing was accepted.",
  },
  rateLimited: {
    when: "The key has sent more than 120 requests in this minute.",
    advice: "Stop until `retry_after` seconds have passed. Requests in between count too.",
  },
  addressLimited: {
    when: "Your address has asked for public statuses more than 60 times in a minute.",
    advice: "Wait `retry_after` seconds. API keys are not concerned.",
  },
  internal: { when: "Gatehouse made a mistake.", advice: "Try again later, and tell the operator the `request_id`." },
  obsolete: { when: "The path is under /v1, which is switched off.", advice: "Use /v2." },
  gameApi: {
    when: "The game API failed or refused; `upstream_code` and `upstream_message` say how.",
    advice: "See the codes of the game API. If there is a `Retry-After` header, wait that long.",
  },
  notFound: {
    when: "There is no such path, or nothing with this id.",
    advice: "Check the path and the id. A slash at the end makes it another path.",
  },
  invalidJson: { when: "The body is empty, no JSON, or no UTF-8.", advice: "Send JSON." },
  spamBlocked: {
    when: "The key went on 400 requests beyond its limit, and is blocked.",
    advice: "Stop until `blocked_until`. Going on makes the block longer.",
  },
  methodNotAllowed: { when: "The path has no such method.", advice: "The `Allow` header lists the methods." },
  payloadTooLarge: {
    when: "The body has more than 8,192 bytes (a webhook of the game: 65,536; a picture of a map: 4 MiB).",
    advice: "Send less.",
  },
  unsupportedMediaType: {
    when: "The body is not declared as JSON, or is compressed; a picture of a map is no PNG, JPEG or WebP.",
    advice: "Send `Content-Type: application/json`; a picture in one of the three formats.",
  },
  invalidRequest: {
    when: "Something else is wrong with the request.",
    advice: "`details` names each field and says what it must be.",
  },
  conflict: {
    when: "It cannot be done as things are: the command no longer waits, somebody else has claimed the call or it is over, the player has a hundred notes, the key is revoked, the slug of the public status belongs to another server, the name or chat id to another person, somebody has the role, the server has as many webhooks as it may, or the webhook has no events to send again.",
    advice: "Nothing; `details` says why.",
  },
  upgradeRequired: {
    when: "The path is a WebSocket's, and the request does not ask for one.",
    advice: "Open it with a WebSocket client, or use the same path with `stream` for Server-Sent Events.",
  },
  idempotencyInFlight: {
    when: "The same `Idempotency-Key` is being accepted at this moment.",
    advice: "Send the same request again.",
  },
  idempotencyMismatch: {
    when: "The `Idempotency-Key` was used for another command.",
    advice: "Use a new one for each command.",
  },
  unavailable: {
    when: "Gatehouse cannot read or write its store. Nothing was changed, with one exception: when a reply of PostgreSQL was lost, a change may have been made, or a command stored; it then runs once. Or, on any request: PostgreSQL is away, and this instance has not seen the token yet. Or, on a large reading: too many large answers to this key, or in all, have not been read to their end. Or, on events: the archive is away, which `details.archive` says; reads and commands go on. Or, on a change by an operator: the one before it took more than three seconds; nothing was changed. Or, on a WebSocket: too many sockets of your address, or in all, wait for their token.",
    advice: "Try again after `retry_after` seconds. Operators: look first whether the change was made.",
  },
  tooManyAttempts: {
    when: "More than ten wrong master keys, or ten wrong invitations, cookies, passkeys and sign-ins, came from your address in a minute. Or somebody signed in 30 times in an hour.",
    advice: "Wait `retry_after` seconds. The right secret always passes.",
  },
  cursorExpired: {
    when: "The events after this cursor are no longer kept, or the cursor is from another archive.",
    advice: "Go on with `oldest` as `after`: it begins with the oldest kept event. What was between is lost to you.",
  },
  tooManyStreams: {
    when: "20 streams and waiting reads of this key, or 100 streams and waiting reads of all operators, are open on this instance already.",
    advice: "Let one program read for all of yours, or ask without `wait`. Otherwise wait `retry_after` seconds.",
  },
  notConfigured: {
    when: "This Gatehouse keeps no events and no history: it has no archive. For signing in: passkeys do not work at this address, or nobody signs in with the chat platform here.",
    advice:
      "The operator can set `GATEHOUSE_ARCHIVE`, or for signing in `GATEHOUSE_PUBLIC_URL` with https and the settings of the chat platform. `details.address` is where passkeys work.",
  },
  invalidSignature: {
    when: "A webhook of the game is not signed with the game's key, or its time is more than five minutes away.",
    advice: "Nothing; only the game can sign. Operators: check the clock and `GATEHOUSE_GAME_PUBLIC_KEY`.",
  },
};

/** The game API's own codes, in `upstream_code`. */
export const UPSTREAM_GUIDE: Readonly<Record<string, Guidance>> = {
  "0": {
    when: "No usable answer: refused, timed out, cut off, not JSON; or the server is parked, as `upstream_message` says.",
    advice: "Try again later; a parked server needs its operator.",
  },
  "1001": { when: "The game API could not reach the game server.", advice: "Try again later." },
  "1002": { when: "An error inside the game API.", advice: "Try again later." },
  "2000": { when: "The server key is missing.", advice: "The operator must set it." },
  "2001": { when: "The server key is malformed.", advice: "The operator must set a new one." },
  "2002": { when: "The server key is invalid or expired.", advice: "The operator must set a new one." },
  "2003": { when: "The global key is invalid.", advice: "The operator must correct it." },
  "2004": { when: "The server key is banned.", advice: "The operator must set a new one." },
  "3001": { when: "The command is not valid.", advice: "Correct the command." },
  "3002": {
    when: "The server is offline: nobody is playing.",
    advice: "Nothing; it comes back with the first player.",
  },
  "4000": { when: "Not authorised.", advice: "Ask the operator." },
  "4001": { when: "The game API's own limit is reached.", advice: "Wait `Retry-After` seconds." },
  "4002": { when: "The command is restricted.", advice: "It cannot be sent this way." },
  "4003": { when: "The command has prohibited text.", advice: "Change the text." },
  "9998": { when: "Access to this resource is restricted.", advice: "Ask the operator." },
  "9999": { when: "The game's module is out of date.", advice: "The server's owner must update it." },
};

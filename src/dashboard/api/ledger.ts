// What the requests for events take. Their answers are in core/wire/event.ts, with integers that a double cannot hold as
// strings, see `parseExactJson`.

/** The page reads forwards with `after`, backwards with `before`. */
export type EventQuery = {
  readonly after?: string;
  readonly before?: string;
  readonly types?: string;
  readonly player?: string;
  readonly limit?: number;
};

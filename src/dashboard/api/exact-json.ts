// Parses JSON without losing digits. Large integers, such as long ids, become strings: views write them into JSON again, which
// does not take bigints.
import { parseExactJson as parseWith } from "../../../packages/client/src/exact-json.ts";

/** An id of the game: a number, or its digits when a double cannot hold it. */
export type Id = number | string;

export function parseExactJson(text: string): unknown {
  return parseWith(text, String);
}

// The public key of the game's webhooks: an Ed25519 key in SPKI form, as base64.

/** The key that the game publishes. */
export const PUBLISHED_GAME_KEY = "MCowBQYDK2VwAyEAjSICb9pp0kHizGQtdG8ySWsDChfGqi+gyFCttigBNOA=";

/** The beginning says: an Ed25519 key. The 32 bytes of the key follow. */
const SHAPE = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/;

/** Why this text cannot be the public key; undefined when it can. */
export function findGameKeyProblem(text: string): string | undefined {
  const isKey = SHAPE.test(text) && Buffer.from(text, "base64").toString("base64") === text;
  if (isKey) return undefined;
  return "must be the game's public key: an Ed25519 key in SPKI form as base64, 60 characters that begin with MCowBQYDK2VwAyEA";
}

// How the secrets of the game API are recognised in texts: our own key, its halves, and other keys by their shape.
export const REDACTED = "[redacted]";
/** Shorter parts of a key are left: they occur in ordinary words by chance. */
export const PART_MIN_CHARACTERS = 8;
/** Everything that could be a server key or a part of one. */
export const KEY_CANDIDATES = /[A-Za-z0-9]+-[A-Za-z0-9]+|[A-Za-z0-9]{8,}/g;
const LONG_KEY = new RegExp(`^[A-Za-z0-9]{${PART_MIN_CHARACTERS},}-[A-Za-z0-9]{${PART_MIN_CHARACTERS},}$`);
/** Ordinary words have no digits, and capitals only at their beginning. */
const RANDOM_LETTERS = /\d|[a-z][A-Z]/;
const HYPHEN = String.raw`(?:[\u002d\u2010-\u2015\u2212\uff0d\ufe63]|%(?:25)*2d|&(?:amp;)*(?:#0*45|#x0*2d|hyphen|dash|minus);?|\\+u002d)`;

/** Matches the secret in either case, with an encoded hyphen, and with spaces between its characters. */
export function patternOf(secret: string): RegExp {
  const letters = Array.from(secret, (letter) => (letter === "-" ? HYPHEN : RegExp.escape(letter)));
  return new RegExp(letters.join(" ?"), "giu");
}

/** As patternOf, but finds a short secret as a whole word only: as a part of words it occurs by chance. */
export function wordPatternOf(secret: string): RegExp {
  const pattern = patternOf(secret);
  if (secret.length >= 2 * PART_MIN_CHARACTERS) return pattern;
  return new RegExp(`(?<![A-Za-z0-9])${pattern.source}(?![A-Za-z0-9])`, pattern.flags);
}

/** The secret, then each part of it that is long enough to give something away. */
export function splitSecret(secret: string): string[] {
  const parts = secret.split("-").filter((part) => part.length >= PART_MIN_CHARACTERS);
  return secret === "" ? [] : [secret, ...parts];
}

/** Whether the text is most likely the key of some server, and not two words with a hyphen. */
export function looksLikeServerKey(text: string): boolean {
  return LONG_KEY.test(text) && RANDOM_LETTERS.test(text);
}

/** Far more servers than one budget of calls can serve. */
export const KNOWN_KEYS_MAX = 10_000;

export class KnownKeys {
  /** The hashes of a key and of its long parts, by the hash of the key. */
  readonly #hashesByKey = new Map<number | bigint, readonly (number | bigint)[]>();
  /** The lengths of all keys and parts that were ever added: most texts have another one, and need no hash. */
  readonly #lengths = new Set<number>();
  readonly #hashes = new Set<number | bigint>();

  add(serverKey: string): void {
    const hash = hashText(serverKey);
    if (this.#hashesByKey.has(hash)) return;
    const parts = splitSecret(serverKey);
    const hashes = parts.map(hashText);
    for (const { length } of parts) this.#lengths.add(length);
    this.#hashesByKey.set(hash, hashes);
    for (const one of hashes) this.#hashes.add(one);
    if (this.#hashesByKey.size > KNOWN_KEYS_MAX) this.#dropOldest();
  }

  /** Whether the text is a key or a long part of one, in either case. */
  has(text: string): boolean {
    return this.#lengths.has(text.length) && this.#hashes.has(hashText(text));
  }

  #dropOldest(): void {
    const oldest = this.#hashesByKey.entries().next();
    if (oldest.done) return;
    const [hash, hashes] = oldest.value;
    this.#hashesByKey.delete(hash);
    for (const one of hashes) this.#hashes.delete(one);
  }
}

function hashText(text: string): number | bigint {
  return Bun.hash(text.toLowerCase());
}

// Makes the answer of a receiver safe to keep and to show: without our secrets, without invisible characters, and short.

/** So much of an answer is kept. */
export const ANSWER_CHARACTERS_MAX = 200;
/** White space, and characters that are invisible or change how others are displayed. */
const BLANKS = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
/** Texts that look like a token, however it is encoded. Words are shorter. */
const TOKENS = /[A-Za-z0-9_+/=%.~-]{24,}/g;
/** A shorter part of a url is an ordinary word, and taking it out would say what it is. */
const SECRET_CHARACTERS_MIN = 4;
const REDACTED = "[redacted]";

/** `url`: its path after the first segment and its query are secret. A receiver may repeat them. */
export function cleanAnswer(body: string, url: URL): string {
  let text = body.replace(BLANKS, " ").trim();
  for (const secret of listSecretParts(url)) text = text.replaceAll(secret, REDACTED);
  return Array.from(text.replace(TOKENS, REDACTED)).slice(0, ANSWER_CHARACTERS_MAX).join("");
}

/** The longest first, so that no part of one is left over. */
function listSecretParts({ pathname, search, hash }: URL): string[] {
  const [, , ...segments] = pathname.split("/");
  const values = search.slice(1).split(/[&=]/);
  const parts = [segments.join("/"), search.slice(1), hash.slice(1), ...segments, ...values];
  const decoded = parts.map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const whole = new Set([...parts, ...decoded].filter((part) => part.length >= SECRET_CHARACTERS_MIN));
  return [...whole].sort((a, b) => b.length - a.length);
}

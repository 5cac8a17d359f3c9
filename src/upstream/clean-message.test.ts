// Messages of the game API are shown without secrets, without control characters, and capped.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { repeat } from "../../test/long.ts";
import { timeProcessor } from "../../test/processor-time.ts";
import { cleanMessage, decodeText } from "./clean-message.ts";
import { KnownKeys } from "./secret-patterns.ts";

const SERVER_KEY = "AbCdEf123456-GhIjKl7890";
const GLOBAL_KEY = "app-global-0123456789abcdef";
const clean = (message: string) => cleanMessage(message, [SERVER_KEY, GLOBAL_KEY]);

const inHex = (letter: string) => letter.charCodeAt(0).toString(16).padStart(2, "0");
/** Ways to write a text so that a person or a program can still read it. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  "with an entity for its hyphen": (text) => text.replace("-", "&#45;"),
  "with a hexadecimal entity": (text) => text.replace("-", "&#x2D;"),
  "with an entity without a semicolon": (text) => text.replace("-", "&#45"),
  "with an encoded entity": (text) => text.replace("-", "&amp;#x2d;"),
  "with a named entity": (text) => text.replace("-", "&hyphen;"),
  "as entities": (text) => Array.from(text, (letter) => `&#${letter.charCodeAt(0)};`).join(""),
  "percent-encoded": (text) => Array.from(text, (letter) => `%${inHex(letter)}`).join(""),
  "percent-encoded twice": (text) => Array.from(text, (letter) => `%25${inHex(letter)}`).join(""),
  "with escapes": (text) => Array.from(text, (letter) => `\\u00${inHex(letter)}`).join(""),
  "in full-width letters": (text) =>
    Array.from(text, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)).join(""),
  "with another hyphen": (text) => text.replace("-", "\u2011"),
  "with a dash": (text) => text.replace("-", "\u2013"),
  "with entities of invisible characters": (text) => Array.from(text).join("&#8203;"),
};

describe("secrets", () => {
  test("a server key and a global key never come through, however often they are named", () => {
    const text = clean(`key ${SERVER_KEY}, again ${SERVER_KEY}${SERVER_KEY}, and ${GLOBAL_KEY}`);
    expect(text).not.toContain(SERVER_KEY);
    expect(text).not.toContain(GLOBAL_KEY);
    expect(text).toStartWith("key ");
  });

  test("redaction comes before the cap: no half of a key is left at the end", () => {
    for (let before = 470; before <= 505; before++) {
      const text = clean(`${"x".repeat(before)}${SERVER_KEY}`);
      expect(text).not.toContain(SERVER_KEY.slice(0, 4));
    }
  });

  test("a key with a control character somewhere inside does not come through, not even in two pieces", () => {
    for (const intruder of ["\u0000", "\n", "\u001b", "\u200b", "\u2028"]) {
      const broken = `${SERVER_KEY.slice(0, 5)}${intruder}${SERVER_KEY.slice(5)}`;
      expect(clean(`bad key ${broken}`).replaceAll(" ", "")).not.toContain(SERVER_KEY);
    }
  });

  test("each half of a key is removed, in either case", () => {
    for (const half of SERVER_KEY.split("-")) {
      expect(clean(`no server ${half}, nor ${half.toLowerCase()}.`)).toBe("no server [redacted], nor [redacted].");
    }
  });

  test("a half that is shorter than eight characters stays: it may be an ordinary word", () => {
    expect(cleanMessage("this test server failed", ["test-Server"])).toBe("this test server failed");
    expect(cleanMessage("no key test-server", ["test-Server"])).toBe("no key [redacted]");
  });

  test.each(Object.entries(ENCODINGS))("a key does not come through %s", (_name, encode) => {
    const text = clean(`bad key ${encode(SERVER_KEY)} for you`);
    expect(text).toStartWith("bad key [redacted]");
    expect(decodeText(text)).not.toContain(SERVER_KEY);
    for (const half of SERVER_KEY.split("-")) {
      expect(decodeText(clean(`half ${encode(half)}`))).not.toContain(half);
    }
  });

  test("a message with encoded characters and no secret is shown as it was written", () => {
    for (const message of ["100%25 of &lt;b&gt;", "Ｆｕｌｌ width — it&#39;s", "a\\u0041b"]) {
      expect(clean(message)).toBe(message);
    }
  });

  test("what has the shape of some other server's key is removed; ordinary words with a hyphen stay", () => {
    expect(clean("taken by gbzaDhOJQTPrFVIj-mNuyTYqzyqupLoln now")).toBe("taken by [redacted] now");
    const plain = "re-authentication is rate-limited for read-only co-owners, pre-authorised Internal-Server";
    expect(clean(plain)).toBe(plain);
  });

  test("a key of another server is removed whatever its shape", () => {
    const known = new KnownKeys();
    known.add("other-Town7");
    known.add("abcdefghij-klmnopqrst");
    const cleanKnown = (message: string) => cleanMessage(message, [SERVER_KEY], (text) => known.has(text));
    expect(cleanKnown("key Other-Town7 and klmnopqrst, other-Town8")).toBe(
      "key [redacted] and [redacted], other-Town8",
    );
  });

  test("no half of an encoded key is left where a long message was cut", () => {
    const encoded = Array.from(SERVER_KEY, (letter) => `&#${letter.charCodeAt(0)};`).join("");
    for (let shift = 0; shift < encoded.length; shift += 3) {
      const filler = "&#8203;".repeat(Math.floor((16_384 - shift) / 7));
      const text = clean(`${SERVER_KEY} ${filler}${encoded}`);
      expect(text).not.toContain(SERVER_KEY.slice(0, 4));
    }
  });

  test("a key that is not configured redacts nothing", () => {
    expect(cleanMessage("plain words", [""])).toBe("plain words");
    expect(cleanMessage("plain words", [])).toBe("plain words");
  });
});

describe("characters", () => {
  test("control characters are gone, the words stay", () => {
    const text = clean("line one\r\nline\u0000two\u001b[31mred\u007f\u0085end\u2028x");
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    for (const word of ["line one", "two", "red", "end"]) expect(text).toContain(word);
  });

  test("letters of every script and emoji stay as they are", () => {
    expect(clean("Сервер недоступен — 服务器 🚓")).toBe("Сервер недоступен — 服务器 🚓");
  });

  test("a message of 500 characters stays whole, one of 501 loses its last", () => {
    expect(clean("a".repeat(500))).toBe("a".repeat(500));
    expect(clean(`${"a".repeat(500)}b`)).toBe("a".repeat(500));
  });

  test("the cap counts characters and cuts none in half", () => {
    expect(clean("🚓".repeat(600))).toBe("🚓".repeat(500));
  });

  test("a message of four million characters is cut as well", () => {
    expect(clean("y".repeat(4_000_000))).toHaveLength(500);
  });
});

test("for any message: no control characters, no secret, 500 characters at most, and valid text", () => {
  const piece = fc.oneof(
    fc.constantFrom(SERVER_KEY, GLOBAL_KEY, "\u0000", "\n", "\u001b", "\u200e", "\ud800", "🚓", "x".repeat(240)),
    fc.string({ unit: "binary" }),
    fc.constant(SERVER_KEY).chain((key) => fc.nat(key.length).map((at) => `${key.slice(0, at)}\u0000${key.slice(at)}`)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = clean(pieces.join(""));
      expect([...text].length).toBeLessThanOrEqual(500);
      expect(text).not.toMatch(/\p{Cc}/u);
      expect(text).not.toContain(SERVER_KEY);
      expect(text).not.toContain(GLOBAL_KEY);
      expect(text.isWellFormed()).toBe(true);
    }),
    { numRuns: repeat({ usual: 700, long: 20_000 }) },
  );
});

test.each(["\0", " ", "\u200b \n"])(
  "no half of a secret is left in a message that is cut before it is cleaned, filled with %j",
  (filler) => {
    const secret = "PreciousFirst-PreciousSecond";
    for (let shift = 0; shift < 40; shift++) {
      const message = `${filler.repeat(16_384 - shift)}${secret}`;
      expect(cleanMessage(message, [secret])).not.toContain("Precious");
    }
  },
);

test("a message of backslashes alone is searched quickly", () => {
  const spentMs = timeProcessor();
  for (let i = 0; i < 5; i++) cleanMessage("\\".repeat(16_384), ["a-secret"]);
  // Linear matching takes a hundredth of this, quadratic matching several seconds.
  expect(spentMs()).toBeLessThan(1_000);
});

test("of a message of many megabytes, blanks are collapsed as in a short one", () => {
  const spentMs = timeProcessor();
  expect(clean(`${"\n ".repeat(2_000_000)}the end`)).toBe("the end");
  expect(clean(`${" \ud83d\ude00".repeat(40_000)}`)).toBe("\ud83d\ude00 ".repeat(250));
  expect(clean("a ".repeat(2_000_000))).toBe("a ".repeat(250));
  expect(spentMs()).toBeLessThan(2_000);
});

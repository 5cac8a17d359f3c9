// Parses Server-Sent Events from pieces of text, as the HTML standard says: lines end with LF, CRLF or CR, a blank line ends a
// message.

export type SseMessage = {
  /** The last id that the stream has given, with this message or before; empty when there was none. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
};

/** Far more than the largest event. A longer message is not from Gatehouse. */
export const MESSAGE_CHARS_MAX = 4 * 1024 * 1024;

export class SseParser {
  #rest = "";
  #id = "";
  #event = "";
  #data: string[] = [];
  #dataLength = 0;
  #isFirst = true;

  /** Takes the next piece of the stream and returns the messages that it completes. Throws when a message is too long. */
  push(text: string): SseMessage[] {
    const messages: SseMessage[] = [];
    let unread = this.#rest + text;
    if (this.#isFirst && unread !== "") {
      this.#isFirst = false;
      if (unread.startsWith("\uFEFF")) unread = unread.slice(1);
    }
    let start = 0;
    for (;;) {
      const end = findLineEnd(unread, start);
      if (end === undefined) break;
      const message = this.#takeLine(unread.slice(start, end.at));
      if (message) messages.push(message);
      start = end.next;
    }
    this.#rest = unread.slice(start);
    if (this.#rest.length + this.#dataLength > MESSAGE_CHARS_MAX) throw new Error("the message is too long");
    return messages;
  }

  #takeLine(line: string): SseMessage | undefined {
    if (line === "") return this.#complete();
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "data") {
      this.#data.push(value);
      this.#dataLength += value.length;
    }
    return undefined;
  }

  #complete(): SseMessage | undefined {
    const message = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    this.#dataLength = 0;
    return isEmpty ? undefined : message;
  }
}

function findLineEnd(text: string, from: number): { readonly at: number; readonly next: number } | undefined {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === "\n") return { at, next: at + 1 };
    if (character !== "\r") continue;
    // A CR at the very end may be the first half of a CRLF.
    if (at + 1 === text.length) return undefined;
    return { at, next: text[at + 1] === "\n" ? at + 2 : at + 1 };
  }
  return undefined;
}

// Parses Server-Sent Events from pieces of text, as the HTML standard says: lines end with LF, CRLF or CR, and a blank line
// ends a message.

export type SseMessage = {
  /** The last id that the stream has given, with this message or before; empty when there was none. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
};

/** Far more than the largest event. A longer message is not from Gatehouse. */
const MESSAGE_CHARS_MAX = 4 * 1024 * 1024;

const LINE_END = /\r\n|\n|\r/;
const HAS_LINE_END = /[\r\n]/;

export class SseParser {
  /** Pieces of the line that has no end yet. */
  #pieces: string[] = [];
  #id = "";
  #event = "";
  #data: string[] = [];
  #lineLength = 0;
  #dataLength = 0;
  /** Whether the last piece ended with a CR, which an LF may follow. */
  #endedWithCr = false;

  readonly #charsMax: number;

  constructor(charsMax = MESSAGE_CHARS_MAX) {
    this.#charsMax = charsMax;
  }

  /** Takes the next piece and returns the messages that it completes. Throws RangeError when a message is too long. */
  push(piece: string): SseMessage[] {
    let text = piece;
    if (text !== "") {
      if (this.#endedWithCr && text.startsWith("\n")) text = text.slice(1);
      this.#endedWithCr = piece.endsWith("\r");
    }
    this.#lineLength += text.length;
    const messages: SseMessage[] = [];
    if (HAS_LINE_END.test(text)) {
      const lines = (this.#pieces.join("") + text).split(LINE_END);
      this.#pieces = [lines.pop() ?? ""];
      for (const line of lines) {
        const message = this.#takeLine(line);
        if (message) messages.push(message);
      }
      this.#lineLength = this.#pieces[0]?.length ?? 0;
    } else if (text !== "") {
      this.#pieces.push(text);
    }
    if (this.#lineLength + this.#dataLength > this.#charsMax)
      throw new RangeError("a message of the stream is too long");
    return messages;
  }

  #takeLine(line: string): SseMessage | undefined {
    if (line === "") return this.#complete();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "data") {
      this.#data.push(value);
      this.#dataLength += value.length + 1;
    }
    return undefined;
  }

  #complete(): SseMessage | undefined {
    const isEmpty = this.#data.length === 0;
    const message = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
    this.#event = "";
    this.#data = [];
    this.#dataLength = 0;
    return isEmpty ? undefined : message;
  }
}

// Reads the messages of a stream of Server-Sent Events, as Gatehouse writes them.

export type SseMessage = { readonly id: string; readonly event: string; readonly data: string };

/** Ends when the stream ends; a message without its end is dropped. `onBytes` is called with whatever arrives. */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<SseMessage> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    onBytes();
    text += decoder.decode(bytes, { stream: true });
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) yield parseMessage(message);
  }
}

function parseMessage(text: string): SseMessage {
  const fields = { id: "", event: "", data: "" };
  for (const line of text.split("\n")) {
    const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields[name as keyof typeof fields] = value;
  }
  return fields;
}

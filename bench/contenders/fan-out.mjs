// The floor of the streams: bare Bun.serve. GET opens a stream; POST sends the body to all open streams, in chunks that end
// where the chunks of Gatehouse end. It checks nothing and keeps nothing.

/** As in src/gateway/events/event-batch.ts: a chunk ends with the event that reaches this size. */
const CHUNK_BYTES = 32_768;
const HEADERS = { "Content-Type": "text/event-stream" };
const HELLO = new TextEncoder().encode("event: hello\ndata: {}\n\n");

const streams = new Set();
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  development: false,
  async fetch(request) {
    if (request.method === "POST") {
      for (const chunk of split(await request.bytes())) for (const controller of streams) controller.enqueue(chunk);
      return new Response(null, { status: 204 });
    }
    return new Response(openStream(), { headers: HEADERS });
  },
});
console.log(`listening on http://127.0.0.1:${server.port}`);

function openStream() {
  let own;
  return new ReadableStream({
    start(controller) {
      own = controller;
      streams.add(controller);
      controller.enqueue(HELLO);
    },
    cancel() {
      streams.delete(own);
    },
  });
}

function split(bytes) {
  const chunks = [];
  for (let from = 0; from < bytes.length; ) {
    const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(
      "\n\n",
      Math.min(from + CHUNK_BYTES, bytes.length) - 2,
    );
    const to = end < 0 ? bytes.length : end + 2;
    chunks.push(bytes.slice(from, to));
    from = to;
  }
  return chunks;
}

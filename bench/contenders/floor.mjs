// The floor: bare Bun.serve that sends the recorded answers of Gatehouse and checks nothing. Each case has its own port.
// With "reader" as the second argument it also reads what every gateway must read and sets the headers that differ between
// answers. That is the cost of the runtime's requests, headers and responses alone.
import { readFileSync } from "node:fs";
import { SHARED_BYTES_MIN } from "../../src/http/sending/send-body.ts";

const CHANGING = ["age", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"];

const [answersPath, kind] = process.argv.slice(2);
for (const { status, headers, body } of JSON.parse(readFileSync(answersPath, "utf8"))) {
  const payload = status === 304 ? null : toPayload(Buffer.from(body, "base64"));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch: kind === "reader" ? makeReader(status, headers, payload) : makeFloor(status, headers, payload),
  });
  console.log(`listening on http://127.0.0.1:${server.port}`);
}

/** As Gatehouse does: the runtime copies an array for each answer. */
function toPayload(bytes) {
  return bytes.length < SHARED_BYTES_MIN ? bytes : new Blob([bytes]);
}

function makeFloor(status, headers, payload) {
  const init = { status, headers: new Headers(headers) };
  return () => new Response(payload, init);
}

function makeReader(status, headers, payload) {
  const changing = headers.filter(([name]) => CHANGING.includes(name.toLowerCase()));
  const init = { status, headers: new Headers(headers.filter((header) => !changing.includes(header))) };
  return (request) => {
    const { url, method, headers: received } = request;
    const [token, etag] = [received.get("authorization"), received.get("if-none-match")];
    // Never true; it keeps the compiler from removing the reads.
    if (url === "" || method === "" || token === "" || etag === "") return new Response(null, { status: 400 });
    const response = new Response(payload, init);
    for (const [name, value] of changing) response.headers.set(name, value);
    return response;
  };
}

// The floor: bare Bun.serve that sends Gatehouse's own bytes and headers, with no check of anything. A port for each case.
// With "reader" as its second argument it reads what every gateway must read, and sets the headers that differ from answer to
// answer, but makes nothing of it: what the runtime's own requests, headers and responses cost before anybody's first thought.
import { readFileSync } from "node:fs";

const CHANGING = ["age", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"];

const [answersPath, kind] = process.argv.slice(2);
for (const { status, headers, body } of JSON.parse(readFileSync(answersPath, "utf8"))) {
  const bytes = status === 304 ? null : Buffer.from(body, "base64");
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch: kind === "reader" ? makeReader(status, headers, bytes) : makeFloor(status, headers, bytes),
  });
  console.log(`listening on http://127.0.0.1:${server.port}`);
}

function makeFloor(status, headers, bytes) {
  const init = { status, headers: new Headers(headers) };
  return () => new Response(bytes, init);
}

function makeReader(status, headers, bytes) {
  const changing = headers.filter(([name]) => CHANGING.includes(name.toLowerCase()));
  const init = { status, headers: new Headers(headers.filter((header) => !changing.includes(header))) };
  return (request) => {
    const { url, method, headers: asked } = request;
    const [token, etag] = [asked.get("authorization"), asked.get("if-none-match")];
    // Never so; but no compiler may leave the reading out.
    if (url === "" || method === "" || token === "" || etag === "")
      return new Response(null, { status: 400 });
    const response = new Response(bytes, init);
    for (const [name, value] of changing) response.headers.set(name, value);
    return response;
  };
}

// The floor: bare Bun.serve that sends Gatehouse's own bytes and headers, with no check of anything. A port for each case.
import { readFileSync } from "node:fs";

for (const { status, headers, body } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const bytes = status === 304 ? null : Buffer.from(body, "base64");
  const init = { status, headers: new Headers(headers) };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch: () => new Response(bytes, init),
  });
  console.log(`listening on http://127.0.0.1:${server.port}`);
}

// Receivers of webhooks, in a process of their own: the first address accepts everything and counts it, the second never
// answers. GET on the first tells how many requests came.
import { createServer } from "node:net";

let received = 0;
const alive = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ method }) => {
    if (method === "GET") return Response.json(received);
    received++;
    return Response.json({ id: "1" });
  },
});
const dead = createServer((socket) => void socket.on("error", () => {}).resume());
dead.listen(0, "127.0.0.1", () => {
  const address = dead.address();
  const port = typeof address === "object" && address ? address.port : 0;
  console.log(`listening on http://127.0.0.1:${alive.port}`);
  console.log(`listening on http://127.0.0.1:${port}`);
});

// The floor of the guards: a bare Bun.serve. With an address and a number of calls it also makes as many calls there and parses
// the answers, which is the least that watching has to do.
const [url, calls = "0"] = process.argv.slice(2);
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
console.log(`listening on http://127.0.0.1:${server.port}`);
for (let made = 0; url !== undefined && made < Number(calls); made++) {
  JSON.parse(await (await fetch(url)).text());
}
if (url !== undefined) console.log("done");

export {};

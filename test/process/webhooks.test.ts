// gatehouse webhooks: from nothing to a tested webhook, without its address in an argument or on the screen.
import { afterEach, expect, test } from "bun:test";
import { runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

afterEach(cleanUp);

test("a webhook is created, listed, tested, changed and deleted, and its address is shown only in part", async () => {
  const cwd = makeFolder();
  let status = 204;
  const receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(null, { status }) });
  const { url } = await serve({ cwd, env: { GATEHOUSE_WEBHOOKS_PRIVATE: "allow" } });
  const run = (args: string[], input?: string) =>
    runToEnd(["webhooks", ...args, "--url", url], { cwd, ...(input !== undefined && { input }) });
  const address = `${receiver.url}hook/CanaryToken`;
  // No events have these types, so nothing but the tests is sent.
  const types = ["alert.raised", "alert.cleared"];
  const about = ["--server", "Demo", "--label", "#mod-log", "--types", types.join(",")];

  const created = await run(["create", ...about, "--format", "standard"], `${address}\n`);
  expect([created.exitCode, created.stderr]).toEqual([0, ""]);
  expect(created.stdout).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/m);
  const id = /hook_[0-9A-Za-z]{20}/.exec(created.stdout)?.[0] ?? "";

  const [list, json, shown, nothing, unknown, wrong] = await Promise.all([
    run(["list", "--server", "Demo", "--ids"]),
    run(["list", "--json"]),
    run(["show", "#mod-log"]),
    run(["deliveries", id]),
    run(["show", "nobody"]),
    run(["create", ...about, "--format", "discord"], "ftp://CanaryToken\n"),
  ]);
  expect(list.stdout).toMatch(new RegExp(`${id} +#mod-log +Demo +standard +enabled +0 +never`));
  expect(JSON.parse(json.stdout)).toMatchObject({ items: [{ webhook_id: id, types }] });
  expect(shown.stdout).toContain(`address       http://127.0.0.1:${receiver.port}/hook/…`);
  expect(nothing.stdout).toBe("nothing was sent yet\n");
  expect([unknown.exitCode, wrong.exitCode]).toEqual([3, 2]);
  expect(wrong.stderr).toContain("url: must be an https:// address");

  const tested = await run(["test", id]);
  expect([tested.exitCode, tested.stdout]).toEqual([0, expect.stringContaining("accepted it: 204")]);
  status = 410;
  const [refused, rotated, changed, again, unasked] = await Promise.all([
    run(["test", id, "--json"]),
    run(["rotate", id]),
    run(["change", id, "--enabled", "off", "--types", "all", "--language", "ru"]),
    run(["redeliver", id, "--after", "earliest", "--json"]),
    run(["delete", id]),
  ]);
  expect([refused.exitCode, JSON.parse(refused.stdout)]).toMatchObject([1, { status: 410 }]);
  expect(rotated.stdout).toMatch(/^whsec_/m);
  expect(changed.stdout).toMatch(/types +all\n[\s\S]*state +disabled/);
  expect(JSON.parse(again.stdout)).toMatchObject({ webhook_id: id });
  expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  const deleted = await run(["delete", "#mod-log", "--yes"]);
  expect([deleted.exitCode, deleted.stdout]).toEqual([0, `${id} is deleted\n`]);

  const all = [created, list, json, shown, nothing, unknown, wrong, tested, refused, rotated, changed, again];
  for (const { stdout, stderr } of all) expect(stdout + stderr).not.toContain("CanaryToken");
  await receiver.stop(true);
});

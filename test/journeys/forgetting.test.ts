// An operator forgets a player: again and again, and the audit log does not tell whom.
import { afterEach, expect, test } from "bun:test";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

let gatehouse: TestGatehouse | undefined;
afterEach(() => gatehouse?.stop());

test("forgetting a player is answered 204, however often, and audited without the id", async () => {
  gatehouse = await startGatehouse();
  for (let time = 0; time < 2; time++) {
    const answer = await gatehouse.admin("DELETE", "/admin/players/987654321");
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
  }
  const audit = await (await gatehouse.admin("GET", "/admin/audit")).text();
  expect(JSON.parse(audit).items.slice(0, 2)).toMatchObject(
    Array(2).fill({ action: "player.forgotten", target: "player", details: {} }),
  );
  expect(audit).not.toContain("987654321");
  expect(gatehouse.logLines.join()).not.toContain("987654321");
});

test.each(["Bob", "54x", "-1", "1.5", "5%204"])("%s is no id: 400 with 5104", async (id) => {
  gatehouse = await startGatehouse();
  const answer = await gatehouse.admin("DELETE", `/admin/players/${id}`);
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { code: 5104, details: { id: "must be digits" } },
  ]);
});

test("nobody but the operator may", async () => {
  gatehouse = await startGatehouse();
  const answer = await fetch(`${gatehouse.url}/admin/players/54`, { method: "DELETE" });
  expect(answer.status).toBe(401);
});

// A key that changes while its read waits for the game API is judged again before the answer, on both stores.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startSharedServices, stopSharedServices } from "../shared-services.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { createOperator, expectRefusal, type NewKeyBody, type Operator, readAs } from "./operator.ts";

const MASTER_KEY = "changed-while-waiting-0123456789abcdef";
const SECRET = "changed-while-waiting-secret-0123456789";
const INVALID = { code: 5008, message: "invalid_token" };

const STORES = [
  { store: "SQLite", findEnv: async () => ({}) },
  { store: "PostgreSQL", findEnv: startSharedServices },
];

for (const { store, findEnv } of STORES) {
  describe(`a key in ${store} that changes while its read waits`, () => {
    let api: FakeGameApi;
    let gatehouse: TestGatehouse;
    let operator: Operator;

    beforeAll(async () => {
      api = startFakeGameApi();
      gatehouse = await startGatehouse({
        env: {
          GATEHOUSE_UPSTREAM_URL: api.url,
          GATEHOUSE_MASTER_KEY: MASTER_KEY,
          GATEHOUSE_SECRET: SECRET,
          ...(await findEnv()),
        },
      });
      operator = createOperator(gatehouse);
    });
    afterAll(async () => {
      await gatehouse.stop();
      await api.stop();
      await stopSharedServices();
    });

    /** Sends a read, makes the change while the game API has not answered, and lets the game API answer. */
    async function readDuring(change: (key: NewKeyBody) => Promise<unknown>, reply: object = BASE_INFO) {
      const key = await operator.addKey(await operator.addServer());
      const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      api.answer = async () => {
        asked.resolve();
        await gate.promise;
        return Response.json(reply);
      };
      const reading = gatehouse.get("/v2/game/server?Players=true&Queue=true", key.token);
      await asked.promise;
      await change(key);
      gate.resolve();
      return { key, response: await reading };
    }

    test("is refused with 5008 when it was revoked, also instead of the game API's failure", async () => {
      const revoked = await readDuring((key) => operator.revoke(key));
      expect(revoked.response.headers.get("www-authenticate")).toBe("Bearer");
      expect(revoked.response.headers.get("x-ratelimit-limit")).toBeNull();
      await expectRefusal(revoked.response, 401, INVALID);
      const { response } = await readDuring((key) => operator.revoke(key), { not: "a server" });
      await expectRefusal(response, 401, INVALID);
    });

    test("is refused with 5008 when its server was deleted, its token replaced, or its time has come", async () => {
      const remove = ({ server_id }: NewKeyBody) => gatehouse.admin("DELETE", `/admin/servers/${server_id}`);
      await expectRefusal((await readDuring(remove)).response, 401, INVALID);
      await expectRefusal((await readDuring((key) => operator.rotate(key))).response, 401, INVALID);
      const expire = async (key: NewKeyBody) => {
        await operator.changeKey(key, { expires_at: gatehouse.clock.now + 1 });
        gatehouse.clock.advance(1);
      };
      await expectRefusal((await readDuring(expire)).response, 401, INVALID);
    });

    test("is refused with what it now lacks, and counted once", async () => {
      const narrowed = await readDuring((key) => operator.changeKey(key, { sections: ["Queue"] }));
      expect(narrowed.response.headers.get("x-ratelimit-remaining")).toBe("119");
      const sections = { code: 5011, message: "query_param_forbidden", details: { sections: ["Players"] } };
      await expectRefusal(narrowed.response, 403, sections);
      const next = await gatehouse.get("/v2/game/key", narrowed.key.token);
      expect(next.headers.get("x-ratelimit-remaining")).toBe("118");
      const { usage } = await operator.showKey(narrowed.key);
      expect(usage).toMatchObject({ requests: 2, refusals: { 5011: 1 } });

      const suspended = await readDuring((key) => operator.changeKey(key, { suspended: true }));
      const forbidden = { code: 5009, message: "forbidden", details: { reason: "suspended" } };
      await expectRefusal(suspended.response, 403, forbidden);
    });

    test("is answered when it may still read what it asked for", async () => {
      const rename = await readDuring((key) => operator.changeKey(key, { label: "renamed", commands: ["*"] }));
      expect(await readAs<typeof BASE_INFO>(rename.response)).toMatchObject(BASE_INFO);
      const inGrace = await readDuring((key) => operator.rotate(key, { grace_seconds: 60 }));
      expect(inGrace.response.headers.get("x-ratelimit-remaining")).toBe("119");
      expect(await readAs<typeof BASE_INFO>(inGrace.response)).toMatchObject(BASE_INFO);
    });
  });
}

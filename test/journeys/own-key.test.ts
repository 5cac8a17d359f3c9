// GET /v2/game/key over HTTP: shows the rights of the caller's key with the field names of the admin API, and nothing that
// only operators may see.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { SECTIONS } from "../../src/core/sections.ts";
import { type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startSharedServices, stopSharedServices } from "../shared-services.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { createOperator, expectRefusal, type Operator, readAs, type ServerBody } from "./operator.ts";

const FORMS = ["/v2/game/key", "/v2/town/game/key"] as const;
const [PATH] = FORMS;
const MASTER_KEY = "own-key-master-key-0123456789abcdef";
const forbiddenBy = (details: object) => ({ code: 5009, message: "forbidden", details });

type OwnKeyBody = {
  readonly key_id: string;
  readonly label: string;
  readonly server_id: string;
  readonly server_name: string;
  readonly community: string | null;
  readonly versions: readonly string[];
  readonly sections: readonly string[];
  readonly commands: readonly string[];
  readonly hide: readonly string[];
  readonly may: readonly string[];
  readonly expires_at: number | null;
};

const STORES = [
  { store: "SQLite", findEnv: async () => ({}) },
  { store: "PostgreSQL", findEnv: startSharedServices },
];

for (const { store, findEnv } of STORES) {
  describe(`the rights of a key in ${store}`, () => {
    let api: FakeGameApi;
    let gatehouse: TestGatehouse;
    let operator: Operator;
    let town: ServerBody;

    beforeAll(async () => {
      api = startFakeGameApi();
      gatehouse = await startGatehouse({
        env: {
          GATEHOUSE_UPSTREAM_URL: api.url,
          GATEHOUSE_MASTER_KEY: MASTER_KEY,
          GATEHOUSE_SECRET: "own-key-secret-0123456789abcdefghij",
          ...(await findEnv()),
        },
      });
      operator = createOperator(gatehouse);
      town = await operator.addServer({ community: "town" });
    });
    afterEach(() => expect(api.calls).toEqual([]));
    afterAll(async () => {
      await gatehouse.stop();
      await api.stop();
      await stopSharedServices();
    });

    const ask = (method: string, path: string, token: string) =>
      fetch(gatehouse.url + path, { method, headers: { Authorization: `Bearer ${token}` } });
    const remainingOf = (response: Response) => response.headers.get("x-ratelimit-remaining");

    test.each([
      {},
      { sections: [] },
      { sections: ["Vehicles", "Players"] },
      { commands: ["*"] },
      { sections: [], commands: [":H", ":m"], hide: ["JoinKey"] },
      { versions: ["v1", "v2"], expires_at: 4_000_000_000_000, ip_allow: ["127.0.0.0/8"] },
    ])("a key created with %j gets exactly these rights, in both forms", async (rights) => {
      const made = await operator.addKey(town, { label: "the bot's own", ...rights });
      const { key_id, versions, commands, hide, expires_at } = made;
      for (const path of FORMS) {
        const response = await gatehouse.get(path, made.token);
        expect(response.headers.get("cache-control")).toBe("no-store");
        expect(await readAs<OwnKeyBody>(response)).toEqual({
          key_id,
          label: "the bot's own",
          server_id: town.server_id,
          server_name: town.name,
          community: "town",
          versions,
          sections: SECTIONS.filter((name) => made.sections.includes(name)),
          commands,
          hide,
          may: commands.length > 0 ? ["claim", "notes"] : [],
          expires_at,
        });
      }
    });

    test("the next answer shows the operator's changes", async () => {
      const server = await operator.addServer();
      const key = await operator.addKey(server);
      const before = await readAs<OwnKeyBody>(await gatehouse.get(PATH, key.token));
      expect(before).toMatchObject({ sections: SECTIONS, commands: [], community: null });
      await operator.changeKey(key, { sections: ["Queue"], commands: [":h"], label: "renamed" });
      const change = { community: "moved", name: `New name of ${server.name}` };
      await gatehouse.admin("PATCH", `/admin/servers/${server.server_id}`, change);
      const after = await readAs<OwnKeyBody>(await gatehouse.get("/v2/moved/game/key", key.token));
      expect(after).toMatchObject({ sections: ["Queue"], commands: [":h"], community: "moved" });
      expect(after).toMatchObject({ label: "renamed", server_name: change.name });
    });

    test("it shares the limit with reads in both forms and HEAD, and has the limit's headers", async () => {
      const { token } = await operator.addKey(town);
      const first = await gatehouse.get(PATH, token);
      expect(first.headers.get("x-ratelimit-limit")).toBe("120");
      expect(first.headers.get("x-ratelimit-bucket")).toBe("server");
      expect(first.headers.get("x-ratelimit-reset")).toBe(String(Math.ceil((gatehouse.clock.now + 60_000) / 1000)));
      expect(remainingOf(first)).toBe("119");
      expect(remainingOf(await gatehouse.get(FORMS[1], token))).toBe("118");
      const head = await ask("HEAD", PATH, token);
      expect([head.status, await head.text(), remainingOf(head)]).toEqual([200, "", "117"]);
      const read = await ask("GET", "/v2/game/server?Players=nothing", token);
      api.calls.length = 0;
      expect(remainingOf(read)).toBe("116");
    });

    test("over the limit it is 429/5016, and 400 further begins the block", async () => {
      const { token } = await operator.addKey(town);
      const answers = await Promise.all(Array.from({ length: 520 }, () => gatehouse.get(PATH, token)));
      const codes = await Promise.all(
        answers.map(async (answer) => ((await answer.json()) as { code?: number }).code ?? answer.status),
      );
      const count = (code: number) => codes.filter((one) => one === code).length;
      expect([count(200), count(5016), count(5100)]).toEqual([120, 399, 1]);
    });

    test.each(["Players=true", "Staff=true&Staff=true", "limit=0", "%"])(
      "sections and whatever else is in the query (%s) mean nothing here",
      async (query) => {
        const { token } = await operator.addKey(town, { sections: [] });
        const response = await gatehouse.get(`${PATH}?${query}`, token);
        expect((await readAs<OwnKeyBody>(response)).sections).toEqual([]);
      },
    );

    test("no key, a wrong one, and one that has ended are refused as everywhere", async () => {
      const missing = { code: 5007, message: "missing_token" };
      const invalid = { code: 5008, message: "invalid_token" };
      for (const path of FORMS) {
        await expectRefusal(await gatehouse.get(path), 401, missing);
        await expectRefusal(await gatehouse.get(path, "gth_x"), 401, invalid);
        await expectRefusal(await gatehouse.get(path, gatehouse.masterKey), 401, invalid);
      }
      const revoked = await operator.addKey(town);
      await operator.revoke(revoked);
      await expectRefusal(await gatehouse.get(PATH, revoked.token), 401, invalid);
      const mortal = await operator.addKey(town, { expires_at: gatehouse.clock.now + 1 });
      gatehouse.clock.advance(1);
      await expectRefusal(await gatehouse.get(PATH, mortal.token), 401, invalid);
    });

    test("the version comes first, then suspension, the address and the community; refusals count", async () => {
      const old = await operator.addKey(town, { versions: ["v1"] });
      await operator.changeKey(old, { suspended: true });
      const refused = await gatehouse.get(PATH, old.token);
      expect(remainingOf(refused)).toBe("119");
      await expectRefusal(refused, 403, {
        code: 5010,
        message: "api_version_forbidden",
        details: { versions: ["v1"] },
      });

      const suspended = await operator.addKey(town);
      await operator.changeKey(suspended, { suspended: true });
      await expectRefusal(await gatehouse.get(PATH, suspended.token), 403, forbiddenBy({ reason: "suspended" }));
      const elsewhere = await operator.addKey(town, { ip_allow: ["10.0.0.0/8"] });
      const seen = forbiddenBy({ reason: "address", seen: "127.0.0.1" });
      await expectRefusal(await gatehouse.get(PATH, elsewhere.token), 403, seen);
      const foreign = await operator.addKey(town);
      const refusal = forbiddenBy({ reason: "community" });
      await expectRefusal(await gatehouse.get("/v2/Town/game/key", foreign.token), 403, refusal);
    });

    test("other methods are 405 with Allow, and neighbouring paths 404, before the key is checked", async () => {
      for (const path of FORMS) {
        for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
          const response = await ask(method, path, "gth_x");
          expect(response.headers.get("allow")).toBe("GET, HEAD");
          await expectRefusal(response, 405, { code: 5101, message: "method_not_allowed" });
        }
        const slashed = await gatehouse.get(`${path}/`);
        await expectRefusal(slashed, 404, { code: 5020, message: "not_found" });
      }
      expect((await gatehouse.get("/v1/game/key")).status).toBe(500);
    });
  });
}

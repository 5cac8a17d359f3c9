// What a restart must not forget.
import { expect, test } from "bun:test";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { FakeClock, startGatehouse } from "../start-gatehouse.ts";

test("a pause that the game API has ordered holds over a restart, and is not another game API's", async () => {
  const clock = new FakeClock();
  const limited = () => Response.json({ code: 4001 }, { status: 429, headers: { "Retry-After": "600" } });
  let answer: () => Response = limited;
  const api = startFakeGameApi(() => answer());
  const other = startFakeGameApi(() => Response.json(BASE_INFO));
  const at = (url: string) => ({ clock, env: { GATEHOUSE_UPSTREAM_URL: url } });
  const first = await startGatehouse(at(api.url));
  const { folder } = first;
  const { token } = await first.addKey(await first.addServer());
  expect((await first.get("/v2/game/server", token)).status).toBe(400);
  await first.app.stop();
  answer = () => Response.json(BASE_INFO);

  const second = await startGatehouse({ ...at(api.url), folder });
  const refused = await second.get("/v2/game/server", token);
  expect(await refused.json()).toMatchObject({ code: 5019, upstream_code: 4001 });
  expect(refused.headers.get("retry-after")).toBe("600");
  await second.app.stop();

  const third = await startGatehouse({ ...at(other.url), folder });
  expect((await third.get("/v2/game/server", token)).status).toBe(200);
  await third.app.stop();

  clock.advance(600_000);
  const fourth = await startGatehouse({ ...at(api.url), folder });
  expect((await fourth.get("/v2/game/server", token)).status).toBe(200);
  expect(api.calls).toHaveLength(2);
  await fourth.stop();
  await Promise.all([api.stop(), other.stop()]);
});

import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { ERRORS } from "../../../core/errors.ts";
import { signIn } from "./session.ts";

test("a text that cannot stand in a header is judged without a request", async () => {
  expect(await signIn("")).toMatchObject({ text: "empty" });
  expect(await signIn("gth_ключ")).toMatchObject({ text: "invalidKey" });
  expect(await signIn("ключ")).toMatchObject({ text: "wrongMaster" });
});

const AWAY = { code: ERRORS.unavailable.code, message: ERRORS.unavailable.message, retry_after: 1 };
afterEach(() => mock.restore());

test("without the database the master key still opens the page, whose Health says what is away; a wrong one does not", async () => {
  const answer = (metrics: Response) =>
    (async (input: string | URL | Request) =>
      String(input).includes("/metrics") ? metrics.clone() : Response.json(AWAY, { status: 503 })) as typeof fetch;
  const ask = spyOn(globalThis, "fetch").mockImplementation(answer(new Response("gatehouse_database_up 0")));
  expect(await signIn("the-master-key")).toMatchObject({ kind: "admin" });
  const { code, message } = ERRORS.invalidMasterKey;
  ask.mockImplementation(answer(Response.json({ code, message }, { status: 401 })));
  expect(await signIn("another-key")).toMatchObject({ code: ERRORS.unavailable.code });
});

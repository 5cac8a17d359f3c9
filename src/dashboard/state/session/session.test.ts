import { expect, test } from "bun:test";
import { signIn } from "./session.ts";

test("a text that cannot stand in a header is judged without a request", async () => {
  expect(await signIn("")).toMatchObject({ text: "empty" });
  expect(await signIn("gth_ключ")).toMatchObject({ text: "invalidKey" });
  expect(await signIn("ключ")).toMatchObject({ text: "wrongMaster" });
});

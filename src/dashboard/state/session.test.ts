import { expect, test } from "bun:test";
import { signIn, signInAndRemember } from "./session.ts";

test("a text that no header can hold is a wrong key, also when the device is to be remembered", async () => {
  // The first letter after the prefix is Cyrillic.
  const mistyped = "gth_\u0430bc";
  expect(await signIn(mistyped)).toMatchObject({ text: "invalidKey" });
  expect(await signInAndRemember(` ${mistyped} `)).toMatchObject({ text: "invalidKey" });
  expect(await signIn("\u043a\u043b\u044e\u0447")).toMatchObject({ text: "wrongMaster" });
  expect(await signIn("  ")).toMatchObject({ text: "empty" });
});

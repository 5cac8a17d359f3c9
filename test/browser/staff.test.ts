// The view "staff".
import { expect } from "bun:test";
import { browserTest, openView } from "./browser.ts";
import { idOf, nameOf } from "./game-server-fixture.ts";

browserTest("staff are listed by rank, and the table shows who is on the server", async () => {
  const page = await openView("staff");
  const rows = page.locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(7);
  expect(await rows.first().innerText()).toContain("Administrator");
  expect(await rows.last().innerText()).toContain("Helper");
  const here = page.getByRole("row", { name: nameOf(1) });
  expect(await here.innerText()).toMatch(new RegExp(`${idOf(1)}[^]*Administrator[^]*Here[^]*Sheriff`));
  expect(await page.getByRole("row", { name: "AwayMod" }).innerText()).toContain("Away");

  await page.getByLabel("Role").selectOption({ label: "Moderator" });
  await page.getByText("3 of 7 entries").first().waitFor();
  await page.getByLabel("On the server").selectOption({ label: "Away" });
  await page.getByText("1 of 7 entries").first().waitFor();
  expect(await rows.first().innerText()).toContain("AwayMod");
});

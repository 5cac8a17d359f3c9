// The view "vehicles".
import { expect } from "bun:test";
import { browserTest, openView } from "./browser.ts";
import { nameOf } from "./game-server-fixture.ts";

browserTest("vehicles are shown with owner, plate, livery, and their colour as a swatch", async () => {
  const page = await openView("vehicles");
  const row = page.locator("tbody tr").filter({ hasText: "ABC-101" });
  await row.waitFor();
  const text = await row.innerText();
  for (const part of ["2019 Falcon Interceptor", nameOf(1), "Standard", "Midnight Blue", "#1b2a4e"]) {
    expect(text).toContain(part);
  }
  const colour = await row
    .locator(".swatch")
    .evaluate(
      (swatch) =>
        (globalThis as never as { getComputedStyle(of: unknown): { backgroundColor: string } }).getComputedStyle(swatch)
          .backgroundColor,
    );
  expect(colour).toBe("rgb(27, 42, 78)");

  await page.getByLabel("Colour", { exact: true }).selectOption("Super Red");
  await page.getByText("6 of 24 entries").first().waitFor();
  await page.getByLabel("Search").fill("fire engine abc-100");
  await page.getByText("1 of 24 entries").first().waitFor();
});

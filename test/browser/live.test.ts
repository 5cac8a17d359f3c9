// The live view: the server at a glance.
import { expect } from "bun:test";
import { toSectionSet } from "../../src/core/sections.ts";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  isLookedAt,
  LANGUAGES,
  openPage,
  openView,
  SIZES,
} from "./browser.ts";
import { nameOf, TOWN } from "./town-fixture.ts";

const TITLES = { en: "Live", ru: "Сейчас" } as const;

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    for (const scheme of ["light", "dark"] as const) {
      if (!isLookedAt(language, size, scheme)) continue;
      browserTest(`the live view is whole and accessible: ${language}, ${size}, ${scheme}`, async () => {
        const page = await openView("live", { language, size, scheme });
        expect(await page.locator("h1").innerText()).toBe(TITLES[language]);
        expect(await page.locator("#content section h2").count()).toBe(6);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      });
    }
  }
}

browserTest("the server's card has its players, queue, owner and settings", async () => {
  const page = await openView("live");
  const card = page.getByRole("region", { name: "Server", exact: true });
  const text = await card.innerText();
  for (const part of [
    "Riverside Roleplay",
    "40",
    "of 60 players",
    "20 places free",
    "3 players wait",
    "123",
  ]) {
    expect(text).toContain(part);
  }
  expect(text).toContain("phone or identity document");
  expect(await card.getByRole("progressbar", { name: "Players" }).getAttribute("aria-valuetext")).toBe(
    "40 of 60 players",
  );
});

browserTest("the join key is not in the page until somebody asks for it", async () => {
  const page = await openView("live");
  const card = page.getByRole("region", { name: "Server", exact: true });
  expect(await page.content()).not.toContain(TOWN.JoinKey);
  await card.getByRole("button", { name: "Show the join key" }).click();
  await card.getByText(TOWN.JoinKey, { exact: true }).waitFor();
  await card.getByRole("button", { name: "Hide the join key" }).click();
  expect(await page.content()).not.toContain(TOWN.JoinKey);

  await card.getByRole("button", { name: "Copy: Join key" }).click();
  await card.getByRole("button", { name: "Copied: Join key" }).waitFor();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(TOWN.JoinKey);
});

browserTest("teams are counted, and only calls that nobody has answered are open", async () => {
  const page = await openView("live");
  const teams = page.getByRole("region", { name: "Teams" });
  const police = TOWN.Players.filter(({ Team }) => Team === "Police").length;
  expect(await teams.getByRole("progressbar", { name: "Police" }).getAttribute("aria-valuetext")).toBe(
    `${police} players`,
  );
  const calls = page.getByRole("region", { name: "Open calls for a moderator" });
  const open = TOWN.ModCalls.filter(({ Moderator }) => Moderator === null).length;
  expect(await calls.getByRole("listitem").count()).toBe(open);
  expect(await calls.innerText()).not.toContain(nameOf(7));
  const moves = page.getByRole("region", { name: "Last joins and leaves" });
  expect(await moves.getByRole("listitem").first().innerText()).toContain(nameOf(0));
});

browserTest("what is shown says how old it is, and grows old when nothing new comes", async () => {
  const site = await getSite();
  let isDown = false;
  await site.addTown("live-fails", () =>
    isDown
      ? Response.json({ code: 1001, message: "could not talk to the game" }, { status: 500 })
      : Response.json(TOWN),
  );
  const page = await openView("live", { town: "live-fails", refusals: [400] });
  const fresh = page.getByRole("region", { name: "How fresh this is" });
  expect(await fresh.innerText()).toContain("online");
  expect(await fresh.innerText()).toMatch(/\d+ of 120/);
  isDown = true;
  await fresh.getByText("could not talk to the game").waitFor();
  await page.getByText("What is shown is the last that is known.").waitFor();
  expect(await page.getByRole("region", { name: "Server", exact: true }).innerText()).toContain("40");
  await expectAccessible(page);
});

browserTest("a server that is offline from the start is said to be", async () => {
  const page = await openView("live", { town: "offline", refusals: [400] });
  await page.getByRole("heading", { name: "The game server is offline" }).waitFor();
  await expectAccessible(page);
});

browserTest("an empty server has cards that say so", async () => {
  const page = await openView("live", { town: "empty" });
  for (const text of [
    "Nobody is playing.",
    "Nobody is waiting for a moderator.",
    "There are no emergency calls.",
    "The log is empty.",
  ]) {
    await page.getByText(text).waitFor();
  }
  await expectAccessible(page);
});

browserTest("a key that may read little sees the rest left out, by name", async () => {
  const site = await getSite();
  const key = await site.mintKey("busy", { sections: toSectionSet(["Players"]) });
  const page = await openPage({ view: "live", key });
  await page.getByText("Left out, because the operator has not given this key the right").waitFor();
  const calls = page.getByRole("region", { name: "Emergency calls" });
  expect(await calls.innerText()).toContain("This key may not read this.");
  expect(await page.getByRole("region", { name: "Teams" }).innerText()).toContain("Police");
  await expectAccessible(page);
});

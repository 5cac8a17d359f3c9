// Keys with few rights and with many: the page asks for nothing that they may not have, so nothing is ever refused.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { DEFAULT_RIGHTS, type KeyRights } from "../../src/core/api-key.ts";
import { SECTIONS, toSectionSet } from "../../src/core/sections.ts";
import { browserTest, getSite, openPage, openView, signIn, walkViews } from "./browser.ts";

const LEFT_OUT = "Left out, because the operator has not given this key the right";
const VIEWS = ["live", "map", "players", "staff", "vehicles", "calls", "logs", "plots"];

/** Whatever was answered with an error from now on. */
function watchAnswers(page: Page): readonly string[] {
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  return refused;
}

const WALKS: readonly {
  readonly title: string;
  readonly rights: Partial<KeyRights>;
  readonly lacking: readonly string[];
}[] = [
  { title: "base rights only", rights: { sections: 0, commands: [] }, lacking: VIEWS },
  {
    title: "two sections",
    rights: { sections: toSectionSet(["Players", "Queue"]), commands: [] },
    lacking: VIEWS.filter((view) => view !== "players"),
  },
  { title: "default rights", rights: DEFAULT_RIGHTS, lacking: [] },
  { title: "one command", rights: { ...DEFAULT_RIGHTS, commands: [":h"] }, lacking: [] },
];

for (const { title, rights, lacking } of WALKS) {
  browserTest(`a key with ${title} walks through all it is offered without a single refusal`, async () => {
    const site = await getSite();
    const page = await openPage();
    const refused = watchAnswers(page);
    await signIn(page, await site.mintKey("small", rights));
    const withNote: string[] = [];
    const views = await walkViews(page, async (view) => {
      if ((await page.getByText(LEFT_OUT).count()) > 0) withNote.push(view);
    });
    expect(views).toEqual(rights.commands?.length === 0 ? VIEWS : [...VIEWS, "commands"]);
    expect(withNote).toEqual([...lacking]);
    // With the next poll all that was wanted on the way is asked for again, or not.
    await page.waitForResponse((response) => response.url().includes("/v2/game/server"));
    expect(refused).toEqual([]);
  });
}

browserTest("a key of an offline server signs in, and the page says what is the matter", async () => {
  const site = await getSite();
  const page = await openPage({ refusals: [400] });
  await signIn(page, await site.mintKey("offline", { sections: 0, commands: [] }));
  await page.getByRole("heading", { name: "The game server is offline" }).waitFor();
  expect(await page.getByRole("link", { name: "Commands" }).count()).toBe(0);
});

browserTest(
  "a right that is taken away while the page is open is noticed, and the rest goes on",
  async () => {
    const site = await getSite();
    const { token, keyId } = await site.gatehouse.addKey(site.getServer("small"));
    const page = await openView("calls", { key: token, refusals: [403] });
    await page.getByRole("heading", { name: "Calls for a moderator" }).waitFor();
    const refused = watchAnswers(page);
    const sections = SECTIONS.filter((name) => name !== "ModCalls");
    await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { sections });
    await page.getByRole("button", { name: "Refresh now" }).click();
    await page.getByText(LEFT_OUT).waitFor();
    await page.getByRole("heading", { name: "Calls for a moderator" }).waitFor({ state: "detached" });
    await page.getByRole("table", { name: "Emergency calls" }).waitFor();
    expect(refused.length).toBe(1);
  },
);

// Keys with few and with many rights: the page requests only what the key may read, so no request is refused.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { DEFAULT_RIGHTS, type KeyRights } from "../../src/core/keys/api-key.ts";
import { SECTIONS, toSectionSet } from "../../src/core/sections.ts";
import { IS_LONG } from "../long.ts";
import { browserTest, getSite, openPage, openView, signIn, visitViews } from "./browser.ts";

const LEFT_OUT = "Left out, because you have no right to it";
const VIEWS = ["live", "map", "players", "staff", "vehicles", "calls", "logs", "activity", "plots"];

/** Collects every error answer from now on. */
function collectRefusals(page: Page): readonly string[] {
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  return refused;
}

const CASES: readonly {
  readonly title: string;
  readonly rights: Partial<KeyRights>;
  readonly lacking: readonly string[];
  /** The views that have something to show; all of them by default. */
  readonly views?: readonly string[];
  /** Whether only a long run tests it, because another case is much like it. */
  readonly isLong?: boolean;
}[] = [
  {
    title: "base rights only",
    rights: { sections: 0, commands: [] },
    lacking: ["live", "plots"],
    views: ["live", "activity", "plots"],
  },
  {
    title: "two sections",
    rights: { sections: toSectionSet(["Players", "Queue"]), commands: [] },
    lacking: ["live", "map", "staff"],
    views: ["live", "map", "players", "staff", "activity", "plots"],
    isLong: true,
  },
  { title: "default rights", rights: DEFAULT_RIGHTS, lacking: [], isLong: true },
  { title: "one command", rights: { ...DEFAULT_RIGHTS, commands: [":h"] }, lacking: [], isLong: true },
];

for (const { title, rights, lacking, views: shown = VIEWS, isLong } of CASES) {
  if (isLong && !IS_LONG) continue;
  browserTest(`a key with ${title} opens all of its views without a single refusal`, async () => {
    const site = await getSite();
    const page = await openPage();
    const refused = collectRefusals(page);
    await signIn(page, await site.mintKey("small", rights));
    const withNote: string[] = [];
    const views = await visitViews(page, async (view) => {
      if ((await page.getByText(LEFT_OUT).count()) > 0) withNote.push(view);
    });
    expect(views).toEqual(rights.commands?.length === 0 ? [...shown] : [...shown, "commands"]);
    expect(withNote).toEqual([...lacking]);
    // The next poll must not request sections of views that were left.
    await page.waitForResponse((response) => response.url().includes("/v2/game/server"));
    expect(refused).toEqual([]);
  });
}

browserTest("a key of an offline server can sign in, and the page says that the server is offline", async () => {
  const site = await getSite();
  const page = await openPage({ expectedStatuses: [400] });
  await signIn(page, await site.mintKey("offline", { sections: 0, commands: [] }));
  await page.getByRole("heading", { name: "The game server is offline" }).waitFor();
  expect(await page.getByRole("link", { name: "Console" }).count()).toBe(0);
});

browserTest("the page goes on without a section that the operator removes from the key", async () => {
  const site = await getSite();
  const { token, keyId } = await site.gatehouse.addKey(site.getServer("small"));
  const page = await openView("calls", { key: token, expectedStatuses: [403] });
  await page.getByRole("heading", { name: "Calls for a moderator" }).waitFor();
  const sections = SECTIONS.filter((name) => name !== "ModCalls");
  await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { sections });
  await page.getByRole("button", { name: "Refresh now" }).click();
  await page.getByText(LEFT_OUT).waitFor();
  await page.getByRole("heading", { name: "Calls for a moderator" }).waitFor({ state: "detached" });
  await page.getByRole("table", { name: "Emergency calls" }).waitFor();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const answered = page.waitForResponse((response) => response.url().includes("/v2/game/server?"));
  await page.getByRole("button", { name: "Refresh now" }).click();
  expect((await answered).status()).toBeLessThan(400);
  expect(asked.filter((url) => url.includes("ModCalls=true"))).toEqual([]);
});

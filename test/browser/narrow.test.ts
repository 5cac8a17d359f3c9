// Narrow phones: long names wrap, and every button can be reached.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectAccessible, expectNoSidewaysScroll, getSite, openPage, visitViews } from "./browser.ts";
import { idOf, SMALL_SERVER, writeGameJson } from "./game-server-fixture.ts";

const NARROW = { width: 320, height: 640 };
/** Names of the widest letters, as long as the game allows and longer. */
const NAMES = ["WWWWWWWWWWWWWWWWWWWW", "MMMMMMMM_MMMMMMMMMMM", "W".repeat(47), "M".repeat(300)];

const pickName = (index: number) => NAMES[index % NAMES.length] ?? "";
const pickRef = (index: number) => `${pickName(index)}:${idOf(index)}`;

function makeWideServer() {
  return {
    ...SMALL_SERVER,
    Name: pickName(3),
    JoinKey: pickName(1),
    Players: SMALL_SERVER.Players.map((player, index) => ({ ...player, Player: pickRef(index) })),
    Staff: { Admins: { "1": pickName(0), "2": pickName(1), "3": pickName(2), "4": pickName(3) } },
    JoinLogs: NAMES.map((_, index) => ({ Join: true, Timestamp: index, Player: pickRef(index) })),
    KillLogs: NAMES.map((_, index) => ({
      Killed: pickRef(index),
      Killer: pickRef(index + 1),
      Timestamp: index,
    })),
    CommandLogs: NAMES.map((_, index) => ({
      Player: pickRef(index),
      Command: `:${pickName(index)}`,
      Timestamp: index,
    })),
    ModCalls: NAMES.map((_, index) => ({ Caller: pickRef(index), Moderator: null, Timestamp: index })),
    EmergencyCalls: NAMES.map((name, index) => ({
      Team: "Police",
      Caller: Number(idOf(0)),
      Players: [Number(idOf(2))],
      Position: [0, 0],
      StartedAt: index,
      CallNumber: index,
      Description: name,
      PositionDescriptor: name,
    })),
    Vehicles: SMALL_SERVER.Vehicles.map((vehicle, index) => ({
      ...vehicle,
      Name: pickName(index),
      Owner: pickName(index + 1),
      Plate: pickName(index),
      Texture: pickName(index),
      ColorName: pickName(index),
    })),
  };
}

async function openWide(size: "desktop" | "phone"): Promise<Page> {
  const site = await getSite();
  const server = `wide-${size}`;
  const text = writeGameJson(makeWideServer());
  await site.addServer(server, () => new Response(text, { headers: { "Content-Type": "application/json" } }));
  const page = await openPage({ size, view: "players", key: await site.mintKey(server) });
  if (size === "phone") await page.setViewportSize(NARROW);
  return page;
}

/** Finds names that are clipped, leave their box, or overlap the time beside them. Only a row of one line may cut them. */
const FIND_OVERFLOWING = `Array.from(document.querySelectorAll("#content .game-text"), (name) => {
  const isOneLine = name.closest(".one-line") !== null;
  const box = (name.closest(".row-main, .row-line, .row-side, .cell") ?? name).getBoundingClientRect();
  const place = name.closest("li, dd, td, th")?.getBoundingClientRect();
  const time = name.closest("li")?.querySelector("time")?.getBoundingClientRect();
  const isOver = time && box.right > time.left && box.left < time.right && box.bottom > time.top && box.top < time.bottom;
  const isOut = !isOneLine && place && (box.right > place.right + 1 || box.left < place.left - 1);
  const isCut = !isOneLine && name.scrollWidth > name.clientWidth + 1;
  return isOver || isOut || isCut ? name.textContent.slice(0, 50) : undefined;
}).filter((name) => name !== undefined)`;

/** Finds buttons that are too small, or not visible after scrolling down to them; not those that another one brings up first. */
const FIND_UNREACHABLE = `Array.from(document.querySelectorAll("#content button"), (button) => {
  if (!button.checkVisibility()) return undefined;
  button.scrollIntoView({ block: "center" });
  for (let around = button.parentElement; around; around = around.parentElement) around.scrollLeft = 0;
  const box = button.getBoundingClientRect();
  const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  const isSmall = box.width < 24 || box.height < 24;
  return isSmall || !button.contains(there) ? button.outerHTML.slice(0, 200) : undefined;
}).filter((button) => button !== undefined)`;

browserTest("at 320 pixels no view scrolls sideways, and every button can be reached", async () => {
  const page = await openWide("phone");
  await visitViews(page, async (view) => {
    for (const row of await page.locator(".row-toggle").all()) await row.click();
    if (view === "map") await page.locator(".map-list-button").click();
    await expectNoSidewaysScroll(page);
    expect([view, await page.evaluate<string[]>(FIND_OVERFLOWING)]).toEqual([view, []]);
    expect([view, await page.evaluate<string[]>(FIND_UNREACHABLE)]).toEqual([view, []]);
  });
  await expectAccessible(page);
});

browserTest("on a desktop a long name does not overlap the time beside it", async () => {
  const page = await openWide("desktop");
  await page.setViewportSize({ width: 1366, height: 768 });
  await visitViews(page, async (view) => {
    await expectNoSidewaysScroll(page);
    expect([view, await page.evaluate<string[]>(FIND_OVERFLOWING)]).toEqual([view, []]);
  });
});

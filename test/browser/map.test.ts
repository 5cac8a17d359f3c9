// The view "map": the canvas, and the list for keyboard and screen reader users.
import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { toSectionSet } from "../../src/core/sections.ts";
import { IS_LONG } from "../long.ts";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  isTestedVariant,
  LANGUAGES,
  openPage,
  openView,
  SIZES,
} from "./browser.ts";
import { BUSY_SERVER, idOf, nameOf, refOf, writeGameJson } from "./game-server-fixture.ts";
import { makeHostileServer } from "./hostile-names.ts";

const TITLES = { en: "Map", ru: "Карта" } as const;
const PLACED = BUSY_SERVER.Players.filter((player) => "Location" in player).length;

const canvas = (page: Page) => page.locator("canvas.map-canvas");
const list = (page: Page) => page.getByRole("navigation", { name: "Who and what is on the map" });

/** On a phone the list lies over the map, and is there when the user wants it. */
async function showList(page: Page): Promise<void> {
  const button = page.locator(".map-list-button");
  if ((await button.isVisible()) && (await button.getAttribute("aria-expanded")) === "false") await button.click();
}

/** A hash of the canvas, to see whether it changes. */
async function hashCanvas(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const canvas = document.querySelector("canvas.map-canvas");
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    let hash = 0;
    for (let at = 0; at < pixels.length; at++) hash = (Math.imul(hash, 31) + pixels[at]) | 0;
    resolve(hash);
  })))`);
}

/** Expects that `act` changes the canvas. */
async function expectChange(page: Page, act: () => Promise<unknown>): Promise<void> {
  const before = await hashCanvas(page);
  await act();
  await until("the canvas is as before", async () => (await hashCanvas(page)) !== before);
}

/** Expects that the map reaches down to the end of the window, and that the page does not scroll. */
async function expectWholeWindow(page: Page): Promise<void> {
  const [height, shown] = await page.evaluate<[number, number]>("[document.documentElement.scrollHeight, innerHeight]");
  expect(height).toBeLessThanOrEqual(shown ?? 0);
  const { y, height: ofCanvas } = await measureCanvas(page);
  expect(y + ofCanvas).toBeGreaterThan((shown ?? 0) - 90);
  expect(ofCanvas).toBeGreaterThan((shown ?? 0) / 2);
}

async function measureCanvas(page: Page) {
  const box = await canvas(page).boundingBox();
  if (!box) throw new Error("there is no canvas");
  return { ...box, midX: box.x + box.width / 2, midY: box.y + box.height / 2 };
}

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    for (const scheme of ["light", "dark"] as const) {
      if (!isTestedVariant(language, size, scheme)) continue;
      browserTest(`the map is complete and accessible: ${language}, ${size}, ${scheme}`, async () => {
        const page = await openView("map", { language, size, scheme });
        expect(await page.locator("h1").innerText()).toBe(TITLES[language]);
        await canvas(page).waitFor();
        expect(await page.locator(".map-row").count()).toBe(PLACED + BUSY_SERVER.EmergencyCalls.length);
        await expectNoSidewaysScroll(page);
        await expectWholeWindow(page);
        await showList(page);
        await expectAccessible(page);
        await page.locator(".map-row").last().click();
        await page.locator(".map-following").waitFor();
        await page.locator(".map-selected button[data-command=kick]").waitFor();
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
        await showList(page);
        await page.locator(".map-pick").first().check();
        await page.locator(".map-picked li").waitFor();
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
        await expectWholeWindow(page);
      });
    }
  }
}

browserTest("the map moves and zooms by keys, wheel, buttons and dragging, and can be reset", async () => {
  const page = await openView("map");
  await canvas(page).focus();
  const first = await hashCanvas(page);
  for (const key of ["ArrowLeft", "ArrowDown", "+", "-", "ArrowRight"]) {
    await expectChange(page, () => page.keyboard.press(key));
  }
  const { midX, midY } = await measureCanvas(page);
  await page.mouse.move(midX, midY);
  await expectChange(page, () => page.mouse.wheel(0, -300));
  await expectChange(page, async () => {
    await page.mouse.down();
    await page.mouse.move(midX + 80, midY + 30, { steps: 4 });
    await page.mouse.up();
  });
  await expectChange(page, () => page.getByRole("button", { name: "Zoom in" }).click());
  await expectChange(page, () => page.getByRole("button", { name: "Zoom out" }).click());
  await page.getByRole("button", { name: "Show everybody" }).click();
  await page.mouse.move(5, 5);
  expect(await hashCanvas(page)).toBe(first);
});

browserTest("the map draws nothing while nothing changes", async () => {
  const page = await openPage({ key: await (await getSite()).mintKey("busy") });
  // What Gatehouse learns meanwhile would be drawn.
  const nothing = { cell_size: 40, streets: [], postal_codes: [], image: null };
  await page.route("**/v2/game/server/map", (route) => route.fulfill({ json: nothing }));
  await page.evaluate(`location.hash = "#/map"`);
  // The reading of another view has no emergency calls; those would be drawn later.
  await page.reload();
  await list(page).waitFor();
  const nextReading = async () => {
    await page.waitForResponse((response) => response.url().includes("/v2/game/server?"));
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
  };
  // By then the first answers about streets and waiting calls are drawn.
  await nextReading();
  // A pixel of our own disappears when the map is drawn again.
  const context = 'document.querySelector("canvas").getContext("2d")';
  await page.evaluate(`${context}.putImageData(new ImageData(new Uint8ClampedArray([1, 2, 3, 255]), 1, 1), 0, 0)`);
  const mark = () => page.evaluate<number[]>(`[...${context}.getImageData(0, 0, 1, 1).data]`);
  // Nobody has moved in it.
  await nextReading();
  expect(await mark()).toEqual([1, 2, 3, 255]);
  await page.locator("canvas").focus();
  await page.keyboard.press("ArrowLeft");
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
  expect(await mark()).not.toEqual([1, 2, 3, 255]);
});

browserTest("an open map reads its streets again, however often it polls the players", async () => {
  const site = await getSite();
  const page = await openPage();
  let readings = 0;
  await page.route("**/v2/game/server/map", (route) => {
    readings++;
    return route.fulfill({ json: { cell_size: 40, streets: [], postal_codes: [], image: null } });
  });
  // Before the page asks anything: a page in which the clock is installed has the year 1970 for a moment.
  await page.clock.install();
  await page.evaluate(`sessionStorage.setItem("gatehouse.key", ${JSON.stringify(await site.mintKey("busy"))})`);
  await page.goto(`${site.url}/#/map`);
  await page.reload();
  await list(page).waitFor();
  await until("the streets are not read", () => readings === 1);
  for (let seconds = 0; seconds < 70; seconds += 10) {
    const polled = page.waitForResponse((response) => response.url().includes("/v2/game/server?"));
    await page.clock.fastForward(10_000);
    await polled;
  }
  await until("the streets are not read again", () => readings > 1);
});

browserTest("hovering a marker shows who it is and where", async () => {
  const site = await getSite();
  const [lone] = BUSY_SERVER.Players;
  await site.addServer("map-lone", () => Response.json({ ...BUSY_SERVER, Players: [lone], EmergencyCalls: [] }));
  const page = await openView("map", { server: "map-lone" });
  const tip = page.locator(".map-tooltip");
  expect(await tip.isVisible()).toBe(false);
  const { midX, midY } = await measureCanvas(page);
  await page.mouse.move(midX, midY);
  await tip.getByText(nameOf(0)).waitFor();
  const text = await tip.innerText();
  for (const part of ["Civilian", "200", "Park Street", "2000"]) expect(text).toContain(part);
  await page.mouse.click(midX, midY);
  const card = page.getByRole("region", { name: "Chosen on the map" });
  expect(await card.innerText()).toContain(nameOf(0));
  await card.getByRole("button", { name: "Follow" }).click();
  await page.getByText(`Following ${nameOf(0)}`).waitFor();
});

browserTest("the keyboard alone can find a player, follow and stop following", async () => {
  const page = await openView("map");
  await page.getByText("1 player has no position and is not on the map.").waitFor();
  await page.getByLabel("Find a player or a call").focus();
  await page.keyboard.type(nameOf(21));
  await expectCount(page.locator(".map-row"), 1);
  // The box that picks the player comes before the row.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.locator(".map-tooltip").getByText(nameOf(21)).waitFor();
  await expectChange(page, () => page.keyboard.press("Enter"));
  await page.getByText(`Following ${nameOf(21)}`).waitFor();
  expect(await page.locator(".map-row").getAttribute("aria-pressed")).toBe("true");
  await page.keyboard.press("Escape");
  await page.getByText(`Following ${nameOf(21)}`).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByRole("region", { name: "Chosen on the map" }).waitFor({ state: "detached" });
});

/** A server on which calls wait and somebody has just been killed, with the commands that it got. */
async function addServerWithKills(name: string) {
  const site = await getSite();
  const seconds = Math.floor(Date.now() / 1000);
  const KillLogs = [
    { Killed: refOf(4), Killer: refOf(1), Timestamp: seconds },
    { Killed: "<img src=x onerror=hostile=1>:999", Killer: refOf(2), Timestamp: seconds },
    { Killed: refOf(5), Timestamp: seconds - 3_000, Killer: refOf(3) },
  ];
  const ModCalls = [
    { Caller: refOf(6), Moderator: null, Timestamp: seconds },
    { Caller: refOf(8), Moderator: refOf(3), Timestamp: seconds },
  ];
  const body = writeGameJson({ ...BUSY_SERVER, KillLogs, ModCalls });
  const { serverId } = await site.addServer(name, () => {
    return new Response(body, { headers: { "Content-Type": "application/json" } });
  });
  return async () => {
    const response = await site.gatehouse.admin("GET", `/admin/commands?server_id=${serverId}`);
    return ((await response.json()) as { items: { command: string }[] }).items.map(({ command }) => command);
  };
}

browserTest("the map shows who waits for a moderator and who was just killed", async () => {
  await addServerWithKills("map-kills");
  const page = await openView("map", { server: "map-kills" });
  const kills = list(page).getByRole("region", { name: "Kills of the last minute" });
  await kills.getByText(`${nameOf(4)} killed by ${nameOf(1)}`).waitFor();
  await kills.getByText(`<img src=x onerror=hostile=1> killed by ${nameOf(2)}`).waitFor();
  await expectCount(kills.locator(".map-row"), 2);
  const players = list(page).getByRole("region", { name: "Players" }).locator(".map-row");
  await expectCount(players.getByRole("img", { name: "Waits for a moderator" }), 1);
  expect(await players.first().innerText()).toContain(nameOf(6));
  await page.getByRole("region", { name: "Legend" }).getByText("Waits for a moderator").waitFor();
  await kills.locator(".map-row", { hasText: nameOf(4) }).click();
  await page
    .getByRole("region", { name: "Chosen on the map" })
    .getByRole("link", { name: nameOf(1) })
    .waitFor();
  await expectAccessible(page);
  expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
});

browserTest(
  "map and legend fill the window, neither hides the other, and on a phone the list has all room",
  async () => {
    const page = await openView("map");
    const [map, legend] = [page.locator("canvas"), page.getByRole("region", { name: "Legend" })];
    const bottomOf = async (part: Locator) => {
      const box = await part.boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    expect(await bottomOf(map)).toBeLessThanOrEqual((await legend.boundingBox())?.y ?? 0);
    expect(await bottomOf(legend)).toBeGreaterThan((page.viewportSize()?.height ?? 0) - 40);
    const phone = await openView("map", { size: "phone" });
    const button = phone.getByRole("button", { name: "Show the list" });
    await button.click();
    const finder = await phone.locator(".map-finder").boundingBox();
    const hide = phone.getByRole("button", { name: "Hide the list" });
    expect(finder?.y ?? 0).toBeGreaterThanOrEqual(await bottomOf(hide));
    expect(finder?.y ?? 0).toBeLessThan((await bottomOf(hide)) + 44);
  },
);

browserTest("a chosen player gets a message or a kick from the card, after a confirmation", async () => {
  const listCommands = await addServerWithKills("map-actions");
  const page = await openView("map", { server: "map-actions" });
  await page.getByLabel("Find a player or a call").fill(nameOf(21));
  await page.locator(".map-row").first().click();
  const card = page.getByRole("region", { name: "Chosen on the map" });
  await card.getByRole("button", { name: "Message" }).click();
  await card.locator("form input").fill("please stop");
  await card.getByRole("button", { name: /^Send/ }).click();
  await until("the message was not sent", async () => (await listCommands()).length === 1);
  await card.getByRole("button", { name: "Kick" }).click();
  expect(await listCommands()).toEqual([`:pm ${nameOf(21)} please stop`]);
  await card.getByRole("button", { name: "Kick" }).click();
  await until("the kick was not sent", async () => (await listCommands()).length === 2);
  expect((await listCommands())[0]).toBe(`:kick ${nameOf(21)}`);
});

browserTest("picked players get one command by their ids, and who left or was left out gets none", async () => {
  const site = await getSite();
  let players = BUSY_SERVER.Players;
  const { serverId } = await site.addServer("map-picks", () => Response.json({ ...BUSY_SERVER, Players: players }));
  const page = await openView("map", { server: "map-picks" });
  for (const n of [1, 2, 3, 4]) await page.getByLabel(`Pick ${nameOf(n)}`, { exact: true }).check();
  await page.getByText("4 players picked").waitFor();
  await page.getByRole("button", { name: `Leave out ${nameOf(2)}`, exact: true }).click();
  players = players.filter(({ Player }) => Player !== refOf(4));
  await page.getByText("2 players picked").waitFor();
  const card = page.getByRole("region", { name: "2 players picked" });
  expect(await card.getByRole("button", { name: "Message" }).isDisabled()).toBe(true);
  await card.getByLabel("Message, or the reason of a kick").fill(", all, stop");
  await card.getByRole("button", { name: "Message" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByRole("group", { name: "For 2 players" }).locator("li").allInnerTexts()).toEqual([
    expect.stringMatching(new RegExp(`${nameOf(1)}\\s+${idOf(1)}`)),
    expect.stringMatching(new RegExp(`${nameOf(3)}\\s+${idOf(3)}`)),
  ]);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Send it to 2 players" }).click();
  const listCommands = async () => {
    const response = await site.gatehouse.admin("GET", `/admin/commands?server_id=${serverId}`);
    return ((await response.json()) as { items: { command: string }[] }).items.map(({ command }) => command);
  };
  await until("nothing was sent", async () => (await listCommands()).length === 1);
  expect(await listCommands()).toEqual([`:pm ${idOf(1)},${idOf(3)} all, stop`]);
});

browserTest("who may send no commands can pick nobody", async () => {
  const key = await (await getSite()).mintKey("busy", { commands: [] });
  const page = await openView("map", { key });
  await page.locator(".map-row").first().waitFor();
  await expectCount(page.locator(".map-pick"), 0);
});

browserTest("a followed player stays in the middle of the map", async () => {
  const site = await getSite();
  let x = 0;
  const others = BUSY_SERVER.Players.slice(0, 6);
  await site.addServer("map-moving", () => {
    x += 150;
    const mover = {
      Team: "Fire",
      Player: "Mover:1",
      Location: { LocationX: x, LocationZ: x },
      WantedStars: 0,
    };
    return Response.json({ ...BUSY_SERVER, EmergencyCalls: [], Players: [...others, mover] });
  });
  const page = await openView("map", { server: "map-moving" });
  await page.locator(".map-row", { hasText: "Mover" }).click();
  await page.mouse.move(5, 5);
  await expectChange(page, () => page.waitForTimeout(6_000));
  const { midX, midY } = await measureCanvas(page);
  await page.mouse.move(midX, midY);
  await page.locator(".map-tooltip").getByText("Mover").waitFor();
});

browserTest("on a phone a tap selects a marker, one finger moves the map and two fingers zoom", async () => {
  const page = await openView("map", { size: "phone" });
  await canvas(page).waitFor();
  const { x, y, midX, midY } = await measureCanvas(page);
  const session = await page.context().newCDPSession(page);
  const touch = (type: string, ...points: [number, number][]) =>
    session.send("Input.dispatchTouchEvent", {
      type: type as "touchStart",
      touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })),
    });
  await expectChange(page, async () => {
    await touch("touchStart", [midX, midY]);
    await touch("touchMove", [midX + 20, midY]);
    await touch("touchMove", [midX + 60, midY + 10]);
    await touch("touchEnd");
  });
  await expectChange(page, async () => {
    await touch("touchStart", [midX - 30, midY], [midX + 30, midY]);
    await touch("touchMove", [midX - 60, midY], [midX + 60, midY]);
    await touch("touchMove", [midX - 90, midY], [midX + 90, midY]);
    await touch("touchEnd");
  });
  expect(await page.evaluate<number>("scrollY")).toBe(0);
  await showList(page);
  await page
    .locator(".map-row", { hasText: nameOf(3) })
    .first()
    .click();
  await page.evaluate("scrollTo(0, 0)");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.touchscreen.tap(midX, midY);
  await page.getByRole("region", { name: "Chosen on the map" }).waitFor();
  expect([x, y].every(Number.isFinite)).toBe(true);
});

browserTest("the map says when the key may not read players", async () => {
  const key = await (await getSite()).mintKey("busy", { sections: toSectionSet(["EmergencyCalls"]) });
  const page = await openPage({ view: "map", key });
  await page.getByText("You may not read this").waitFor();
  await expectCount(page.locator(".map-row"), BUSY_SERVER.EmergencyCalls.length);
});

for (const size of IS_LONG ? SIZES : (["phone"] as const)) {
  browserTest(`the map draws, lists and searches hostile names as text, ${size}`, async () => {
    const site = await getSite();
    // With the same times in each reading: a call that began at another time is another call, and no longer followed.
    const hostile = makeHostileServer();
    await site.addServer(`map-hostile-${size}`, () => Response.json(hostile));
    const page = await openView("map", { server: `map-hostile-${size}`, size });
    await showList(page);
    await page.getByLabel("Find a player or a call").fill("script");
    await page.locator(".map-row").first().focus();
    await page.locator(".map-row").first().click();
    await page.locator(".map-following").waitFor();
    await showList(page);
    expect(await list(page).innerText()).toContain("<script>window.hostile=1</script>");
    expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
    expect(await page.locator("#content script, #content img, #content iframe").count()).toBe(0);
    await showList(page);
    await page.getByLabel("Find a player or a call").fill("");
    expect(await page.locator("#content").innerText()).not.toContain("W".repeat(300));
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
  });
}

/** Keeps the boxes of the texts of the last frame, in pixels of the map. */
const RECORD_TEXTS = `
  window.mapTexts = [];
  const canvasMethods = CanvasRenderingContext2D.prototype;
  const { fillText, fillRect } = canvasMethods;
  canvasMethods.fillRect = function (...box) {
    if (this.canvas.className === "map-canvas") window.mapTexts = [];
    return fillRect.apply(this, box);
  };
  canvasMethods.fillText = function (text, x, y) {
    const width = this.measureText(text).width;
    const from = this.textAlign === "center" ? x - width / 2 : x;
    const at = [[from, y - 5], [from + width, y + 5]].map(([px, py]) => this.getTransform().transformPoint({ x: px, y: py }));
    const [xs, ys] = [at.map((point) => point.x / devicePixelRatio), at.map((point) => point.y / devicePixelRatio)];
    window.mapTexts.push({ text, left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) });
    return fillText.call(this, text, x, y);
  };`;

type TextBox = { text: string; left: number; top: number; right: number; bottom: number };

const cellsOf = (name: string, along: (n: number) => [number, number]) => ({
  name,
  cells: Array.from({ length: 80 }, (_, n) => [...along((n - 40) * 40 + 20), 9]),
});
const LEARNED = {
  cell_size: 40,
  streets: [
    cellsOf("Park Street", (at) => [at, 20]),
    cellsOf("Ridge Road", (at) => [20, at]),
    cellsOf("<b>Elm\u202e", (at) => [at, 820]),
  ],
  postal_codes: [{ name: "218", cells: [[-300, -300, 5]] }],
  image: null,
};

browserTest("on a phone streets have their names, and no label lies over another or under a button", async () => {
  const key = await (await getSite()).mintKey("busy");
  const page = await openPage({ key, size: "phone", prelude: RECORD_TEXTS });
  await page.route("**/v2/game/server/map", (route) => route.fulfill({ json: LEARNED }));
  const answered = page.waitForResponse((response) => response.url().endsWith("/v2/game/server/map"));
  await page.evaluate(`location.hash = "#/map"`);
  await answered;
  await showList(page);
  await page.locator(".map-row").first().click();
  await page.locator(".map-following").waitFor();
  await page.getByRole("button", { name: "Zoom out" }).click();
  await hashCanvas(page);
  const texts = await page.evaluate<TextBox[]>("window.mapTexts");
  const names = texts.map(({ text }) => text);
  expect(names).toContain("Park Street");
  expect(names.some((name) => name.includes("\u202e"))).toBe(false);
  const frame = await measureCanvas(page);
  const controls: TextBox[] = [];
  for (const selector of [".map-buttons", ".map-following"]) {
    const box = await page.locator(selector).boundingBox();
    if (!box) throw new Error(`there is no ${selector}`);
    const [left, top] = [box.x - frame.x, box.y - frame.y];
    controls.push({ text: selector, left, top, right: left + box.width, bottom: top + box.height });
  }
  const overlaps = texts.flatMap((one, index) => {
    return [...controls, ...texts.slice(0, index)]
      .filter((other) => other.text !== one.text)
      .filter(({ left, right }) => one.left < right - 1 && one.right > left + 1)
      .filter(({ top, bottom }) => one.top < bottom - 1 && one.bottom > top + 1)
      .map((other) => `${one.text} over ${other.text}`);
  });
  expect(overlaps).toEqual([]);
  expect(texts.length).toBeGreaterThan(5);
});

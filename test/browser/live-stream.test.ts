// The page's stream of events, with a server that Gatehouse watches: what happens is shown without polling, an outage loses and
// repeats nothing, and the alerts for new calls.

import { expect } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import type { Page, Request } from "playwright-core";
import { toSectionSet } from "../../src/core/sections.ts";
import { atEnd } from "../at-end.ts";
import { IS_LONG } from "../long.ts";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  expectTitle,
  HURRIED,
  isTestedVariant,
  LANGUAGES,
  openPage,
  type PageOptions,
  SIZES,
  type Site,
  signOut,
  startSite,
  waitUntilLoaded,
} from "./browser.ts";
import { SMALL_SERVER, writeGameJson } from "./game-server-fixture.ts";
import { ALERTS } from "./played-ledger.ts";

/**
 * Stops every timer of four seconds and more, so that the page does not poll. What appears then has come by the stream, however
 * long the machine takes.
 */
const NO_POLLING = `for (const name of ["setTimeout", "setInterval"]) {
  const set = window[name].bind(window);
  window[name] = (run, ms, ...more) => (ms >= 4000 ? 0 : set(run, ms, ...more));
}`;

/** Records notifications and sounds instead of showing and playing them. */
const FAKE_ALERTS = `window.shown = [];
window.asked = 0;
window.tones = 0;
window.permission = localStorage.getItem("test.permission") ?? "default";
window.Notification = class {
  static get permission() { return window.permission; }
  static async requestPermission() {
    window.asked++;
    window.permission = localStorage.getItem("test.answer") ?? "granted";
    localStorage.setItem("test.permission", window.permission);
    return window.permission;
  }
  constructor(title, { body, tag, silent }) { window.shown.push({ title, body, silent }); this.tag = tag; }
  close() {}
};
window.AudioContext = class {
  currentTime = 0;
  destination = {};
  async resume() {}
  createOscillator() {
    return { frequency: {}, connect: (node) => node, start() { window.tones++; }, stop() {} };
  }
  createGain() {
    return { gain: { setValueAtTime() {}, linearRampToValueAtTime() {} }, connect: (node) => node };
  }
};`;

let watchedSite: Promise<Site> | undefined;
let serverCount = 0;

function getWatchedSite(): Promise<Site> {
  watchedSite ??= startSite({ GATEHOUSE_WATCH: "on", GATEHOUSE_WATCH_INTERVAL_MS: "200" });
  return watchedSite;
}

type GameState = Record<"JoinLogs" | "ModCalls" | "EmergencyCalls" | "Players", readonly unknown[]>;

/** A server of its own for one test, whose state the test changes. */
async function addChangingServer() {
  const site = await getWatchedSite();
  const name = `changing ${++serverCount}`;
  let state: GameState = SMALL_SERVER;
  await site.addServer(
    name,
    () => new Response(writeGameJson(state), { headers: { "Content-Type": "application/json" } }),
  );
  const nowSeconds = () => Math.floor(Date.now() / 1000);
  return {
    site,
    name,
    join(player: string): void {
      const entry = { Join: true, Timestamp: nowSeconds(), Player: `${player}:77` };
      state = { ...state, JoinLogs: [entry, ...state.JoinLogs] };
    },
    /** By somebody who is on the server. */
    callModerator(caller: string): void {
      const player = { Player: `${caller}:78`, Team: "Civilian", Permission: "Normal", Callsign: null, WantedStars: 0 };
      state = { ...state, Players: [...state.Players, player] };
      const entry = { Caller: `${caller}:78`, Moderator: null, Timestamp: nowSeconds() };
      state = { ...state, ModCalls: [entry, ...state.ModCalls] };
    },
    answerCalls(moderator: string): void {
      const answered = state.ModCalls.map((call) => ({ ...(call as object), Moderator: `${moderator}:79` }));
      state = { ...state, ModCalls: answered };
    },
    callEmergency(description: string): void {
      const [first] = SMALL_SERVER.EmergencyCalls;
      const entry = { ...first, Description: description, CallNumber: 900, StartedAt: nowSeconds() };
      state = { ...state, EmergencyCalls: [entry, ...state.EmergencyCalls] };
    },
  };
}

type ChangingServer = Awaited<ReturnType<typeof addChangingServer>>;

/** Opens a view with a new key of the server, and returns when the stream is open. */
async function openLive(server: ChangingServer, view: string, options: PageOptions = {}) {
  const { site, name } = server;
  const key = options.key ?? (await site.mintKey(name));
  const requests: Request[] = [];
  const page = await openPage({ ...options, site, key });
  page.on("request", (request) => requests.push(request));
  await page.evaluate(`location.hash = "#/${view}"`);
  await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor({ state: "attached" });
  await waitUntilLoaded(page);
  await liveMark(page, options.language).waitFor();
  return { page, key, requests };
}

function liveMark(page: Page, language: PageOptions["language"] = "en") {
  const names = {
    en: ["Freshness of the data", "live"],
    ru: ["Актуальность данных", "в реальном времени"],
  } as const;
  const [region, text] = names[language];
  return page.getByRole("region", { name: region }).getByText(text, { exact: true });
}

const linesOf = (page: Page) => page.locator(".time-line-entry");
const isStream = (request: Request) => new URL(request.url()).pathname.endsWith("/events/stream");
/** Without the alerts, which the frame asks for while there is no stream. As texts: a request takes minutes to print. */
const listPolls = (requests: readonly Request[]) =>
  requests
    .map((request) => new URL(request.url()))
    .filter(({ pathname, searchParams }) => pathname.endsWith("/events") && searchParams.get("types") !== ALERTS)
    .map(({ href }) => href);

browserTest(
  "without a single poll, events come by a stream with the key in a header, and so does its end",
  async () => {
    const server = await addChangingServer();
    const { site, name } = server;
    const { token: key, keyId } = await site.gatehouse.addKey(site.getServer(name));
    const { page, requests } = await openLive(server, "activity", {
      key,
      prelude: NO_POLLING,
      expectedStatuses: [401],
    });
    await linesOf(page).first().waitFor();
    server.join("FirstNewcomer");
    await linesOf(page).filter({ hasText: "FirstNewcomer" }).waitFor();
    requests.length = 0;
    for (const name of ["Second", "Third", "Fourth"]) {
      server.join(`${name}Newcomer`);
      await linesOf(page)
        .filter({ hasText: `${name}Newcomer` })
        .waitFor();
    }
    expect(await linesOf(page).first().innerText()).toContain("FourthNewcomer");
    expect(listPolls(requests)).toEqual([]);
    expect(requests.every((request) => !request.url().includes(key))).toBe(true);
    await expectCount(linesOf(page).filter({ hasText: "Newcomer" }), 4);
    // A revoked key is signed out by the end of its stream.
    await site.gatehouse.admin("DELETE", `/admin/keys/${keyId}`);
    await page.getByRole("alert").waitFor();
  },
);

browserTest("all views share one stream, by which a hidden tab counts the waiting calls in its title", async () => {
  const server = await addChangingServer();
  const key = await server.site.mintKey(server.name);
  const streams: Request[] = [];
  const page = await openPage({ site: server.site, key, view: "live", prelude: NO_POLLING });
  page.on("request", (request) => void (isStream(request) && streams.push(request)));
  await page.reload();
  await liveMark(page).waitFor();
  server.join("LiveNewcomer");
  await page.locator("#content").getByText("LiveNewcomer").first().waitFor();
  await page.getByRole("link", { name: "Logs" }).click();
  const entries = page.locator("[data-entry]");
  await entries.first().waitFor();
  server.join("LogsNewcomer");
  await entries.filter({ hasText: "LogsNewcomer" }).waitFor();
  await page.getByRole("link", { name: "Calls" }).click();
  await page.getByRole("table", { name: "Emergency calls" }).waitFor();
  server.callEmergency("Bridge is down");
  await page.getByRole("table", { name: "Emergency calls" }).getByText("Bridge is down").waitFor();
  await page.getByRole("link", { name: "Map", exact: true }).click();
  await page.locator("canvas").first().waitFor();

  // An event makes also a hidden tab read the server again.
  const hide = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
      document.dispatchEvent(new Event("visibilitychange"))`);
  await page.getByRole("link", { name: "Staff" }).click();
  await expectTitle(page, "(1) Staff · Riverside Roleplay");
  await hide(true);
  server.callModerator("HiddenCaller");
  await expectTitle(page, "(2) Staff · Riverside Roleplay");
  server.answerCalls("Mia");
  await expectTitle(page, "Staff · Riverside Roleplay");
  await hide(false);
  await page.getByRole("link", { name: "Calls", exact: true }).click();
  await page.getByText("No calls are waiting").waitFor();
  expect(streams.length).toBe(1);
  expect(streams[0]?.headers().authorization).toBe(`Bearer ${key}`);
});

/** A proxy in front of the site whose connections the test can cut. */
async function startProxy(target: string) {
  const sockets = new Set<Socket>();
  let isDown = false;
  const proxy = createServer((socket) => {
    if (isDown) return void socket.destroy();
    const upstream = connect(Number(new URL(target).port), "127.0.0.1");
    for (const each of [socket, upstream]) {
      sockets.add(each);
      each.on("error", () => {});
      each.on("close", () => {
        sockets.delete(each);
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.pipe(upstream);
    upstream.pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  atEnd(async () => void proxy.close());
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    cut(): void {
      isDown = true;
      for (const socket of sockets) socket.destroy();
    },
    mend(): void {
      isDown = false;
    },
  };
}

browserTest("an outage loses and repeats no event, and shows no error when it is short", async () => {
  const server = await addChangingServer();
  const proxy = await startProxy(server.site.url);
  const { page, requests } = await openLive(server, "activity", {
    prelude: NO_POLLING,
    url: proxy.url,
    expectsOutage: true,
  });
  server.join("BeforeOutage");
  await linesOf(page).filter({ hasText: "BeforeOutage" }).waitFor();
  requests.length = 0;
  const failed = page.waitForEvent("requestfailed", isStream);
  proxy.cut();
  await failed;
  await liveMark(page).waitFor({ state: "detached" });
  server.join("DuringOutage1");
  server.join("DuringOutage2");
  const other = await openLive(server, "activity", { prelude: NO_POLLING });
  await linesOf(other.page).filter({ hasText: "DuringOutage2" }).waitFor();
  proxy.mend();
  // Ends a backoff, which is long after a long outage.
  await page.evaluate(`dispatchEvent(new Event("online"))`);
  await linesOf(page).filter({ hasText: "DuringOutage2" }).waitFor({ timeout: 40_000 });
  await liveMark(page).waitFor();
  server.join("AfterOutage");
  await linesOf(page).filter({ hasText: "AfterOutage" }).waitFor();
  const texts = await linesOf(page).filter({ hasText: "Outage" }).allInnerTexts();
  const names = texts.map((text) => /\w*Outage\d?/.exec(text)?.[0]);
  // Both joins are in one reading and in the same second, so the order of those two is the game's.
  expect(names.toSorted()).toEqual(["AfterOutage", "BeforeOutage", "DuringOutage1", "DuringOutage2"]);
  expect([names[0], names[3]]).toEqual(["AfterOutage", "BeforeOutage"]);
  const resumed = requests.filter(isStream).at(-1);
  expect(resumed?.headers()["last-event-id"]).toMatch(/^[\w-]+$/);
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(await page.getByText("Gatehouse unreachable").count()).toBe(0);
});

for (const [status, code, message] of [
  [501, 5110, "not_configured"],
  [503, 5106, "unavailable"],
  [429, 5109, "too_many_streams"],
] as const) {
  // The unit tests of the backoff try every refusal.
  if (status !== 503 && !IS_LONG) continue;
  browserTest(`the page polls when the stream is refused with ${status}`, async () => {
    const server = await addChangingServer();
    const key = await server.site.mintKey(server.name);
    const page = await openPage({
      site: server.site,
      view: "staff",
      expectedStatuses: [status],
      prelude: HURRIED,
    });
    let streams = 0;
    await page.route("**/events/stream", (route) => {
      streams++;
      return route.fulfill({ status, json: { code, message } });
    });
    await page.evaluate(`sessionStorage.setItem("gatehouse.key", ${JSON.stringify(key)})`);
    await page.evaluate(`location.hash = "#/activity"`);
    await page.reload();
    await linesOf(page).first().waitFor();
    server.join("PolledNewcomer");
    await linesOf(page).filter({ hasText: "PolledNewcomer" }).waitFor();
    server.join("PolledAgain");
    await linesOf(page).filter({ hasText: "PolledAgain" }).waitFor();
    expect(await liveMark(page).count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
    if (status !== 503) expect(streams).toBe(1);
  });
}

const bellOf = (page: Page) => page.getByRole("button", { name: /^Alerts/ });

browserTest("nothing rings at first, and the browser is asked only when they are switched on", async () => {
  const server = await addChangingServer();
  const { page } = await openLive(server, "activity", { prelude: FAKE_ALERTS });
  server.callModerator("QuietCaller");
  await linesOf(page).filter({ hasText: "QuietCaller" }).waitFor();
  expect(await page.evaluate<unknown>("[asked, shown.length, tones]")).toEqual([0, 0, 0]);

  await bellOf(page).click();
  await page.getByRole("switch", { name: "Quiet sound" }).check({ force: true });
  expect(await page.evaluate<unknown>("[asked, shown.length]")).toEqual([0, 0]);
  await page.getByRole("switch", { name: "Browser notification" }).check({ force: true });
  await page.locator("[data-on=true]").first().waitFor();
  expect(await page.evaluate<unknown>("[asked, shown.length, tones]")).toEqual([1, 1, 2]);
  await page.keyboard.press("Escape");

  await page.reload();
  await liveMark(page).waitFor();
  await linesOf(page).first().waitFor();
  server.callModerator("LoudCaller");
  await linesOf(page).filter({ hasText: "LoudCaller" }).waitFor();
  server.callEmergency("Bridge is down");
  await linesOf(page).filter({ hasText: "Bridge is down" }).waitFor();
  server.join("NoAlertForMe");
  await linesOf(page).filter({ hasText: "NoAlertForMe" }).waitFor();
  expect(await page.evaluate<unknown>("asked")).toBe(0);
  expect(await page.evaluate<unknown>("shown")).toEqual([
    { title: "Call for a moderator", body: "Riverside Roleplay\nLoudCaller", silent: true },
    {
      title: "Emergency call",
      body: expect.stringContaining("Riverside Roleplay\nBridge is down"),
      silent: true,
    },
  ]);
  expect(await page.evaluate<number>("tones")).toBeGreaterThanOrEqual(2);
});

browserTest("two tabs that hear of the same call make one sound", async () => {
  const server = await addChangingServer();
  const soundOn = `localStorage.setItem("gatehouse.alerts", '{"sound":true}');`;
  const { page } = await openLive(server, "activity", { prelude: soundOn + FAKE_ALERTS });
  const second = await page.context().newPage();
  await second.goto(page.url());
  await liveMark(second).waitFor();
  server.callModerator("HeardOnce");
  const calls = (tab: Page) => linesOf(tab).filter({ hasText: "HeardOnce" });
  await Promise.all([calls(page).waitFor(), calls(second).waitFor()]);
  const countTones = () => Promise.all([page, second].map((tab) => tab.evaluate<number>("tones")));
  await until("no tab has made a sound", async () => (await countTones()).some((tones) => tones > 0));
  expect((await countTones()).toSorted()).toEqual([0, 2]);
});

browserTest("a browser that refuses notifications is told in words, and the switch stays off", async () => {
  const server = await addChangingServer();
  const { page } = await openLive(server, "live", {
    prelude: `localStorage.setItem("test.answer", "denied"); ${FAKE_ALERTS}`,
  });
  await bellOf(page).click();
  const notification = page.getByRole("switch", { name: "Browser notification" });
  await notification.click({ force: true });
  await page.getByText("The browser does not let this page notify you.").waitFor();
  expect(await notification.isChecked()).toBe(false);
});

browserTest("only what the key may read can ring, and signing out ends the stream", async () => {
  const server = await addChangingServer();
  const { site, name } = server;
  const few = await site.mintKey(name, { sections: toSectionSet(["Players"]) });
  const without = await openLive(server, "live", { key: few });
  await bellOf(without.page).click();
  const kindsOf = (page: Page) => page.getByRole("dialog").getByRole("checkbox", { name: /^Sound: / });
  await expectCount(kindsOf(without.page), 2);
  const one = await site.mintKey(name, { sections: toSectionSet(["ModCalls"]) });
  const { page } = await openLive(server, "live", { key: one });
  await bellOf(page).click();
  await page.getByRole("checkbox", { name: "Sound: Call for a moderator" }).waitFor();
  await expectCount(kindsOf(page), 3);
  await page.keyboard.press("Escape");
  const ended = page.waitForEvent("requestfailed", isStream);
  await signOut(page);
  await ended;
  await page.locator("form input").first().waitFor();
});

browserTest("an operator who looks into a server follows its stream, without a single poll", async () => {
  const server = await addChangingServer();
  const { site, name } = server;
  const { serverId } = site.getServer(name);
  const view = `servers/${serverId}/activity`;
  const page = await openPage({ site, key: site.masterKey, view, prelude: NO_POLLING });
  await liveMark(page).waitFor();
  await linesOf(page).first().waitFor();
  server.join("SeenByOperator");
  await linesOf(page).filter({ hasText: "SeenByOperator" }).waitFor();
  await bellOf(page).waitFor();
});

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    browserTest(`the settings of the alerts are accessible and fit, ${language} ${size}`, async () => {
      const server = await addChangingServer();
      const scheme = language === "ru" ? "dark" : "light";
      const { page } = await openLive(server, "live", { language, size, scheme, prelude: FAKE_ALERTS });
      const name = language === "ru" ? "Оповещения" : "Alerts";
      await page.getByRole("button", { name }).click();
      await page.getByRole("dialog", { name }).getByRole("switch").first().waitFor();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });
  }
}

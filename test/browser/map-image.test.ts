// The picture behind the map: an operator sets it, and the map of a key shows it.
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { IMAGE_BYTES_MAX } from "../../src/core/maps/map-image.ts";
import { browserTest, expectAccessible, expectNoSidewaysScroll, openView, startSite } from "./browser.ts";
import { BUSY_SERVER } from "./game-server-fixture.ts";

const SIDE = 60;

/** A picture of one colour. */
function makePng(colour: readonly [number, number, number]): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const line = Buffer.concat([Buffer.from([0]), Buffer.from(new Array(SIDE).fill(colour).flat())]);
  const pixels = deflateSync(Buffer.concat(new Array(SIDE).fill(line)));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

/** Red, green and blue of a place of a canvas, each place as a share of its size. */
const colourAt = (page: Page, selector: string, x: number, y: number) =>
  page.evaluate<number[]>(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const canvas = document.querySelector(${JSON.stringify(selector)});
    const at = [canvas.width * ${x}, canvas.height * ${y}].map(Math.floor);
    resolve([...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3));
  })))`);

async function expectRed(page: Page, selector: string, x: number, y: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  let colour: number[] = [];
  while (Date.now() < deadline) {
    colour = await colourAt(page, selector, x, y);
    const [red = 0, green = 0] = colour;
    if (red > green + 80) return;
    await Bun.sleep(20);
  }
  throw new Error(`not red: ${colour}`);
}

browserTest("an operator sets a picture behind the map, a key sees it, and the operator removes it", async () => {
  // Its own: of a long list only the rows in view are in the page.
  const site = await startSite();
  const [lone] = BUSY_SERVER.Players;
  await site.addServer("map-picture", () => Response.json({ ...BUSY_SERVER, Players: [lone], EmergencyCalls: [] }));
  const operator = await openView("servers", {
    site,
    key: site.masterKey,
    size: "phone",
    expectedStatuses: [415],
  });
  await operator.locator("#content li", { hasText: "map-picture" }).locator(".row-toggle").click();
  const open = async () => {
    await operator.getByRole("button", { name: "More for map-picture" }).click();
    await operator.getByRole("menuitem", { name: "Map picture" }).click();
  };
  await open();
  const dialog = operator.getByRole("dialog", { name: "Map picture" });
  const file = operator.locator("input[type=file]");
  await dialog.getByRole("button", { name: "Choose a picture" }).waitFor();
  const choose = (buffer: Buffer) => file.setInputFiles({ name: "map.png", mimeType: "image/png", buffer });
  const alert = dialog.getByRole("alert");
  const save = dialog.getByRole("button", { name: "Save" });
  await save.click();
  await alert.getByText("Choose a picture first.").waitFor();
  await choose(Buffer.alloc(IMAGE_BYTES_MAX + 1));
  await alert.getByText("The file is too large. A picture may have up to 4 MB.").waitFor();
  await choose(Buffer.from("<svg/>"));
  await alert.getByText("This file is not a PNG, JPEG or WebP picture.").waitFor();
  // A browser can show it, Gatehouse does not take it.
  await choose(Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"));
  await alert.waitFor({ state: "detached" });
  await save.click();
  await alert.getByText("This file is not a PNG, JPEG or WebP picture.").waitFor();
  await choose(makePng([220, 30, 30]));
  await alert.waitFor({ state: "detached" });
  await expectRed(operator, "[role=dialog] canvas", 0.5, 0.5);
  await dialog.getByLabel("Right edge (X)").fill("-9000");
  await dialog.getByText("Must be more than the opposite edge").waitFor();
  for (const [edge, value] of [
    ["Left edge (X)", "-9000"],
    ["Top edge (Z)", "-9000"],
    ["Right edge (X)", "9000"],
    ["Bottom edge (Z)", "9000"],
  ] as const)
    await dialog.getByLabel(edge).fill(value);
  await expectAccessible(operator);
  await expectNoSidewaysScroll(operator);
  await save.click();
  await operator.getByText("The map of map-picture has its picture.").waitFor();

  const page = await openView("map", { site, key: await site.mintKey("map-picture") });
  await expectRed(page, "canvas.map-canvas", 0.3, 0.7);

  await open();
  await dialog.getByText("A picture of 60 × 60 pixels is set.").waitFor();
  await dialog.getByRole("button", { name: "Remove the picture" }).click();
  await operator.getByText("The map of map-picture has no picture any more.").waitFor();
});

// The reference at /docs: what is sent, and what a reader sees in a real browser.
import { afterAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { fetchReference } from "../../scripts/fetch-reference.ts";
import { SCALAR_FILE } from "../../src/http/web/scalar-package.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { openBrowser, openPage, type Watched } from "./open-browser.ts";

await fetchReference();
const gatehouse = await startGatehouse();
const token = gatehouse.app.demoToken ?? "";
const SCRIPT = `/docs/${SCALAR_FILE}`;
let opened: Promise<Browser> | undefined;
const browse = () => {
  opened ??= openBrowser();
  return opened;
};

afterAll(async () => {
  await (await opened)?.close();
  await gatehouse.stop();
});

describe("the files of the reference", () => {
  for (const path of ["/docs", "/docs/start.js", SCRIPT]) {
    test(`${path} allows no script but ours, no other origin, and no frame`, async () => {
      const response = await gatehouse.get(path);
      expect(response.status).toBe(200);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("connect-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      await response.text();
    });

    test(`${path} is 304 for a matching ETag, and allows only GET and HEAD`, async () => {
      const first = await gatehouse.get(path);
      await first.text();
      const etag = first.headers.get("etag") ?? "";
      const again = await gatehouse.get(path, undefined, { "If-None-Match": etag });
      expect(again.status).toBe(304);
      expect(again.headers.get("cache-control")).toBe(first.headers.get("cache-control"));
      const posted = await fetch(gatehouse.url + path, { method: "POST" });
      expect({ status: posted.status, allow: posted.headers.get("allow") }).toEqual({
        status: 405,
        allow: "GET, HEAD",
      });
      expect((await fetch(gatehouse.url + path, { method: "HEAD" })).status).toBe(200);
    });
  }

  test("the script is compressed for clients that accept gzip, and plain for others", async () => {
    const ask = (encoding: string) => {
      return fetch(gatehouse.url + SCRIPT, { headers: { "Accept-Encoding": encoding }, decompress: false });
    };
    const packed = await ask("gzip");
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(packed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const plain = await ask("identity");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(Buffer.from(await plain.bytes()).equals(Bun.gunzipSync(await packed.arrayBuffer()))).toBe(true);
  });

  test("there are no others", async () => {
    for (const path of ["/docs/", "/docs/scalar.js", "/docs/..%2Fstart.js", "/docs/reference.ts"]) {
      expect((await gatehouse.get(path)).status).toBe(404);
    }
  });
});

describe("the reference in a browser", () => {
  test("shows every operation in dark, and tries a request with a key that it keeps nowhere", async () => {
    const { page, complaints, requested } = await openReference("dark", "#tag/server/GET/v2/game/server");
    await expectWhole(page, "dark");
    await page
      .getByRole("button", { name: /Test Request/ })
      .first()
      .click();
    await page.getByPlaceholder("Token").last().fill(token);
    const answered = page.waitForResponse((response) => response.url().includes("/v2/game/server"));
    await page.getByRole("button", { name: /^Send/ }).first().click();
    const answer = await answered;
    expect(answer.status()).toBe(200);
    await page.getByText("200 OK").waitFor();
    expect(await page.evaluate("JSON.stringify([localStorage, sessionStorage])")).not.toContain(token);
    expect(page.url()).not.toContain(token);
    expect(requested.filter((url) => url.includes(token))).toEqual([]);
    expectQuiet(complaints, requested);
    await page.close();
  });

  test("shows every operation in light, and asks for the master key where an operator's request is tried", async () => {
    const { page, complaints, requested } = await openReference("light", "#tag/keys/GET/admin/keys");
    await expectWhole(page, "light");
    await page
      .getByRole("button", { name: /Test Request/ })
      .first()
      .click();
    await page.getByText("Selected Auth Type: masterKey").last().waitFor();
    await page.getByPlaceholder("Token").last().fill(gatehouse.masterKey);
    const answered = page.waitForResponse((response) => response.url().includes("/admin/keys"));
    await page.getByRole("button", { name: /^Send/ }).first().click();
    expect((await answered).status()).toBe(200);
    expectQuiet(complaints, requested);
    await page.close();
  });
});

type Scheme = "dark" | "light";

async function openReference(colorScheme: Scheme, place: string): Promise<Watched> {
  const watched = await openPage(await browse(), { colorScheme });
  await watched.page.goto(`${gatehouse.url}/docs${place}`);
  return watched;
}

async function expectWhole(page: Page, colorScheme: Scheme): Promise<void> {
  await page.getByRole("heading", { name: "Gatehouse", exact: true }).waitFor();
  for (const tag of ["Server", "Commands", "Game servers", "Keys", "Service", "Version 1"]) {
    await page.getByText(tag, { exact: true }).first().waitFor();
  }
  const isDark = await page.evaluate("document.body.classList.contains('dark-mode')");
  expect(isDark).toBe(colorScheme === "dark");
}

/** The page has logged no error and called no other host. */
function expectQuiet(complaints: readonly string[], requested: readonly string[]): void {
  expect(complaints).toEqual([]);
  expect(requested.filter((url) => !url.startsWith(`${gatehouse.url}/`) && !url.startsWith("data:"))).toEqual([]);
}

// The reference at /docs: what is sent, and what a reader sees in a real browser.
import { afterAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { fetchReference } from "../../scripts/fetch-reference.ts";
import { SCALAR_FILE } from "../../src/http/reference/scalar-package.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { openBrowser, openPage } from "./open-browser.ts";

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
  for (const colorScheme of ["light", "dark"] as const) {
    test(`shows every operation in ${colorScheme}, logs no error and calls no other host`, async () => {
      const { page, complaints, requested } = await openPage(await browse(), { colorScheme });
      await page.goto(`${gatehouse.url}/docs`);
      await page.getByRole("heading", { name: "Gatehouse", exact: true }).waitFor();
      for (const tag of ["Server", "Commands", "Game servers", "Keys", "Service", "Version 1"]) {
        await page.getByText(tag, { exact: true }).first().waitFor();
      }
      const isDark = await page.evaluate("document.body.classList.contains('dark-mode')");
      expect(isDark).toBe(colorScheme === "dark");
      expect(complaints).toEqual([]);
      expect(
        requested.filter((url) => !url.startsWith(`${gatehouse.url}/`) && !url.startsWith("data:")),
      ).toEqual([]);
      await page.close();
    }, 60_000);
  }

  test("tries a request with the reader's key, and keeps the key nowhere", async () => {
    const { page, complaints, requested } = await openPage(await browse(), { colorScheme: "dark" });
    await page.goto(`${gatehouse.url}/docs#tag/server/GET/v2/game/server`);
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
    expect(complaints).toEqual([]);
    await page.close();
  }, 60_000);

  test("asks for the master key, and no other, where an operator's request is tried", async () => {
    const { page, complaints } = await openPage(await browse(), { colorScheme: "light" });
    await page.goto(`${gatehouse.url}/docs#tag/keys/GET/admin/keys`);
    await page
      .getByRole("button", { name: /Test Request/ })
      .first()
      .click();
    await page.getByText("Selected Auth Type: masterKey").last().waitFor();
    await page.getByPlaceholder("Token").last().fill(gatehouse.masterKey);
    const answered = page.waitForResponse((response) => response.url().includes("/admin/keys"));
    await page.getByRole("button", { name: /^Send/ }).first().click();
    expect((await answered).status()).toBe(200);
    expect(complaints).toEqual([]);
    await page.close();
  }, 60_000);
});

// Opens the system's Chromium for tests, and records console errors and failed requests.
import { type Browser, chromium, type Page } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

export type Watched = {
  readonly page: Page;
  /** Errors and warnings in the console, uncaught errors, failed requests. */
  readonly complaints: string[];
  readonly requested: string[];
};

export async function openBrowser(): Promise<Browser> {
  const executablePath = NAMES.map((name) => Bun.which(name)).find((path) => path !== null);
  if (!executablePath) throw new Error("chromium is not installed");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

export async function openPage(browser: Browser, options: { colorScheme: "dark" | "light" }): Promise<Watched> {
  const page = await browser.newPage({ ...options, viewport: { width: 1400, height: 900 } });
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("requestfailed", (request) => complaints.push(`${request.url()} failed`));
  page.on("request", (request) => requested.push(request.url()));
  return { page, complaints, requested };
}

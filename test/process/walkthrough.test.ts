// Runs every command of docs/operating.md in order and unchanged, up to two servers behind TLS.
import { afterEach, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { program, testWith } from "../needs.ts";
import { cleanUp, makeFolder, undoLater } from "./run-gatehouse.ts";

const ROOT = resolve(import.meta.dir, "../..");
/** Replacements for the ports of the page, which other tests could use. */
const PORTS = { "8443": freePort(), "9000": freePort() };

afterEach(cleanUp);

function freePort(): string {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  server.stop(true);
  return String(server.port);
}

/** The `sh` blocks between the first heading and the next. */
function listBlocks(): string[] {
  const page = readFileSync(join(ROOT, "docs/operating.md"), "utf8");
  const walk = page.slice(page.indexOf("## From nothing"), page.indexOf("## Settings"));
  const blocks = Array.from(walk.matchAll(/```sh\n(.*?)```/gs), (match) => match[1] ?? "");
  return blocks.map((block) => {
    return Object.entries(PORTS).reduce((text, [written, used]) => text.replaceAll(written, used), block);
  });
}

/** Runs all blocks in one shell, as a reader would; `set -e` stops at the first failure. */
function toScript(blocks: readonly string[]): string {
  const program = `gatehouse() { ${JSON.stringify(join(ROOT, "gatehouse"))} "$@"; }`;
  const curl = `curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }`;
  return ["set -eu", program, curl, ...blocks].join("\n");
}

testWith(program("bash"), program("curl"), program("openssl"))(
  "every command of the walkthrough works as it is written",
  async () => {
    const blocks = listBlocks();
    expect(blocks.length).toBeGreaterThan(8);
    const isLasting = (block: string) => /^gatehouse (?:serve|simulate)/.test(block);
    const firstServe = blocks.findIndex(isLasting);
    const cwd = makeFolder();
    const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: cwd };

    async function runShell(some: readonly string[]): Promise<string> {
      const shell = Bun.spawn(["bash", "-c", toScript(some)], { cwd, env, stdout: "pipe", stderr: "pipe" });
      const [code, out, complaints] = await Promise.all([
        shell.exited,
        shell.stdout.text(),
        shell.stderr.text(),
      ]);
      expect({ code, complaints: code === 0 ? "" : complaints + out }).toEqual({ code: 0, complaints: "" });
      return out;
    }

    await runShell(blocks.slice(0, firstServe));
    for (const block of blocks.filter(isLasting)) {
      const args = block.trim().split(" ").slice(1);
      const child = Bun.spawn([join(ROOT, "gatehouse"), ...args], {
        cwd,
        env,
        stdout: "pipe",
        stderr: "ignore",
      });
      undoLater(async () => {
        child.kill("SIGTERM");
        await child.exited;
      });
      let said = "";
      const decoder = new TextDecoder();
      for await (const chunk of child.stdout) {
        said += decoder.decode(chunk);
        if (said.includes("listening on")) break;
      }
      expect(said).toContain("listening on");
    }
    const out = await runShell(blocks.slice(firstServe).filter((block) => !isLasting(block)));
    expect(out).toContain("North Town");
    expect(out).toContain('"status":"queued"');
    expect(out).toContain("key.revoked");
  },
  60_000,
);

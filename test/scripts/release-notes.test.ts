// The release notes are the part of the changelog about the version, and nothing else.
import { expect, test } from "bun:test";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { cutReleaseNotes } from "../../scripts/cut-release-notes.ts";

const CHANGELOG = `# Changelog

## 1.10.0 (unreleased)

- Not yet.

## 1.1.0 (2026-05-01)

- Something new.

### Fixed

- Something old.

## 1.0.0 (2026-04-01)

- Everything.

## 0.9.0 (2026-03-01)
`;

test("the part about the version is cut out, without its heading and its neighbours", () => {
  expect(cutReleaseNotes(CHANGELOG, "1.1.0")).toBe("- Something new.\n\n### Fixed\n\n- Something old.\n");
  expect(cutReleaseNotes(CHANGELOG, "1.0.0")).toBe("- Everything.\n");
});

test.each([
  ["1.1", "has no part about 1.1"],
  ["1.10.0", "says that 1.10.0 is unreleased"],
  ["0.9.0", "says nothing about 0.9.0"],
])("for %s there are no notes, and the reason is printed", (version, reason) => {
  expect(() => cutReleaseNotes(CHANGELOG, version)).toThrow(`CHANGELOG.md ${reason}`);
});

test("a tag that is not this version is refused, with exit code 1 and nothing printed", async () => {
  const script = join(import.meta.dir, "../../scripts/release-notes.ts");
  const child = Bun.spawn([process.execPath, script, "v0.0.1"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(await child.exited).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain(`the tag is "v0.0.1", package.json has ${manifest.version}`);
});

// The Debian package, with a small file in place of the binary. That it installs is tried by npm run test:fresh.
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { packDebian } from "../../scripts/debian-package.ts";
import { program, testWith } from "../needs.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

const ROOT = join(import.meta.dir, "../..");
const DEBIAN = join(ROOT, "deploy/debian");

afterEach(cleanUp);

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  expect([command[0], exitCode, stderr.toString()]).toEqual([command[0], 0, ""]);
  return stdout.toString();
}

testWith(program("dpkg-deb"))(
  "the package has the binary, the settings as a conffile, and the units of deploy/",
  async () => {
    const folder = makeFolder();
    const binary = join(folder, "binary");
    writeFileSync(binary, "#!/bin/sh\n");
    const file = packDebian(binary, "arm64", folder);
    expect(readdirSync(folder).sort()).toEqual(["binary", `gatehouse_${manifest.version}_arm64.deb`]);
    expect(run("dpkg-deb", "--field", file, "Package", "Version", "Architecture")).toBe(
      `Package: gatehouse\nVersion: ${manifest.version}\nArchitecture: arm64\n`,
    );
    // An address would have to be one that somebody reads.
    expect(run("dpkg-deb", "--field", file, "Maintainer")).toBe("The Gatehouse authors\n");
    const content = run("dpkg-deb", "--contents", file);
    expect(content).toMatch(/^-rwxr-xr-x root\/root .* \.\/usr\/bin\/gatehouse$/m);
    expect(content).toMatch(/^-rw------- root\/root .* \.\/etc\/gatehouse\/gatehouse\.env$/m);
    expect(content).not.toMatch(/^d(?!rwxr-xr-x root\/root)/m);

    const opened = join(folder, "opened");
    run("dpkg-deb", "--raw-extract", file, opened);
    expect(readFileSync(join(opened, "DEBIAN/conffiles"), "utf8")).toBe("/etc/gatehouse/gatehouse.env\n");
    const units = readdirSync(join(opened, "usr/lib/systemd/system"));
    expect(units.sort()).toEqual(["gatehouse-backup.service", "gatehouse-backup.timer", "gatehouse.service"]);
    for (const name of units) {
      const lines = new Set(readFileSync(join(ROOT, "deploy", name), "utf8").split("\n"));
      const packed = readFileSync(join(opened, "usr/lib/systemd/system", name), "utf8").split("\n");
      const changed = packed.filter((line) => !lines.has(line) && !line.startsWith("#"));
      expect([name, changed]).toEqual([name, [...(CHANGED_LINES[name] ?? [])]]);
    }
  },
);

const CHANGED_LINES: Readonly<Record<string, readonly string[]>> = {
  "gatehouse.service": ["ExecStart=/usr/bin/gatehouse serve", "User=gatehouse", "Group=gatehouse"],
  "gatehouse-backup.service": ["ExecStart=/usr/bin/gatehouse backup /var/backups/gatehouse --keep 14"],
};

test("the scripts that install and remove it end at the first failure, and a shell can read them", () => {
  for (const name of ["postinst", "prerm", "postrm"]) {
    run("sh", "-n", join(DEBIAN, name));
    expect(readFileSync(join(DEBIAN, name), "utf8")).toMatch(/^#!\/bin\/sh\n(# .*\n)+set -e\n/);
  }
});

test("every setting in the package's file of settings is one that there is", () => {
  const known = readFileSync(join(ROOT, ".env.example"), "utf8");
  const named = readFileSync(join(DEBIAN, "gatehouse.env"), "utf8").match(/^#?GATEHOUSE_\w+=/gm) ?? [];
  expect(named.length).toBeGreaterThan(0);
  for (const setting of named) expect(known).toContain(`\n${setting}`);
});

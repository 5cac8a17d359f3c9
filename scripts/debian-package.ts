// The Debian package: a binary that scripts/build.ts has made, the units of deploy/, and the settings and maintainer scripts of
// deploy/debian.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "..");
const UNITS = "usr/lib/systemd/system";
const DOCUMENTS = "usr/share/doc/gatehouse";
const EXAMPLES = ["Caddyfile", "nginx.conf", "grafana-dashboard.json", "prometheus-rules.yml", "prometheus.yml"];
const KIB = 1024;

/** What the units say for an installation by hand, and what they say in the package. */
const UNIT_CHANGES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "gatehouse.service": [
    [
      `# Put the binary into /usr/local/bin, this file into /etc/systemd/system, settings into /etc/gatehouse/gatehouse.env, then:
# systemctl enable --now gatehouse
`,
      "# Change it with: systemctl edit gatehouse\n",
    ],
    ["/usr/local/bin/gatehouse", "/usr/bin/gatehouse"],
    ["# A user that exists only while the service runs.\nDynamicUser=yes\n", "User=gatehouse\nGroup=gatehouse\n"],
  ],
  "gatehouse-backup.service": [["/usr/local/bin/gatehouse", "/usr/bin/gatehouse"]],
  "gatehouse-backup.timer": [],
};

export type DebianArchitecture = "amd64" | "arm64";

/** Returns the path of the package, which appears only when it is complete. Needs dpkg-deb. */
export function packDebian(binary: string, architecture: DebianArchitecture, outdir: string): string {
  // A hyphen would begin a revision of the package; a tilde sorts before the release.
  const version = manifest.version.replaceAll("-", "~");
  const mask = process.umask(0o022);
  const staging = mkdtempSync(join(outdir, ".draft-deb-"));
  const write = (path: string, content: string | Uint8Array, mode = 0o644) => {
    mkdirSync(dirname(join(staging, path)), { recursive: true });
    writeFileSync(join(staging, path), content);
    chmodSync(join(staging, path), mode);
  };
  const copy = (path: string, source: string, mode?: number) => write(path, readFileSync(join(ROOT, source)), mode);
  try {
    chmodSync(staging, 0o755);
    write("usr/bin/gatehouse", "");
    copyFileSync(binary, join(staging, "usr/bin/gatehouse"));
    chmodSync(join(staging, "usr/bin/gatehouse"), 0o755);
    // Short, so that an upgrade does not ask about it whenever a setting is new. It may hold secrets.
    copy("etc/gatehouse/gatehouse.env", "deploy/debian/gatehouse.env", 0o600);
    for (const name of Object.keys(UNIT_CHANGES)) write(join(UNITS, name), readUnit(name));
    copy(join(DOCUMENTS, "copyright"), "LICENSE");
    copy(join(DOCUMENTS, "CHANGELOG.md"), "CHANGELOG.md");
    copy(join(DOCUMENTS, "examples/gatehouse.env"), ".env.example");
    for (const name of EXAMPLES) copy(join(DOCUMENTS, "examples", name), join("deploy", name));
    for (const name of ["postinst", "prerm", "postrm"]) copy(join("DEBIAN", name), join("deploy/debian", name), 0o755);
    write("DEBIAN/conffiles", "/etc/gatehouse/gatehouse.env\n");
    write("DEBIAN/control", writeControl(version, architecture, Math.ceil(statSync(binary).size / KIB)));

    const draft = `${staging}.deb`;
    // Every dpkg can read xz, but not what that of Ubuntu takes by default. More effort saves a tenth and takes twice as long.
    const command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", staging, draft];
    const { exitCode, stderr } = Bun.spawnSync(command, { stdout: "ignore", stderr: "pipe" });
    if (exitCode !== 0) throw new Error(`dpkg-deb: ${stderr.toString().trim()}`);
    const file = join(outdir, `gatehouse_${version}_${architecture}.deb`);
    renameSync(draft, file);
    return file;
  } finally {
    rmSync(staging, { recursive: true, force: true });
    process.umask(mask);
  }
}

function readUnit(name: string): string {
  let text = readFileSync(join(ROOT, "deploy", name), "utf8");
  for (const [before, after] of UNIT_CHANGES[name] ?? []) {
    if (!text.includes(before)) throw new Error(`deploy/${name} has no longer: ${before}`);
    text = text.replace(before, after);
  }
  return text;
}

function writeControl(version: string, architecture: DebianArchitecture, sizeKib: number): string {
  return `Package: gatehouse
Version: ${version}
Architecture: ${architecture}
Maintainer: The Gatehouse authors
Installed-Size: ${sizeKib}
Depends: adduser, libc6 (>= 2.17)
Section: net
Priority: optional
Description: gateway between one busy game API and everyone who asks it
 Calls the game API once for all callers, keeps its rules, gives out limited
 keys, sends commands at most once, and remembers what happened. It needs
 nothing else to run, and begins in front of a simulated game server.
`;
}

// npm run --silent sbom: prints what a binary is made of, as CycloneDX: the packages of package-lock.json without those of
// development, and the script of /docs, which is not in package-lock.json.
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import lock from "../package-lock.json" with { type: "json" };
import { SCALAR } from "../src/http/web/scalar-package.ts";

type Referenced = { readonly "bom-ref": string };
type Bom = {
  readonly metadata: { readonly component: object };
  readonly components: readonly Referenced[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
};

// Not --omit=dev: npm then leaves out packages that development needs as well.
const command = ["npm", "sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=application"];
const cwd = join(import.meta.dir, "..");
const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
const text = await child.stdout.text();
if ((await child.exited) !== 0) throw new Error("npm sbom has failed");
const bom = JSON.parse(text) as Bom;

// A package of development that a shipped one could use as well, such as TypeScript.
const unneeded = new Set<string>();
const packages: Readonly<Record<string, { readonly version?: string; readonly devOptional?: boolean }>> = lock.packages;
for (const [path, { version, devOptional }] of Object.entries(packages)) {
  if (devOptional) unneeded.add(`${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${version}`);
}
const dependencies = new Map(bom.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
const shipped = new Set(Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`));
for (const each of shipped) {
  for (const other of dependencies.get(each) ?? []) if (!unneeded.has(other)) shipped.add(other);
}

const reference = `${SCALAR.name}@${SCALAR.version}`;
const scalar = {
  "bom-ref": reference,
  type: "library",
  name: SCALAR.name,
  version: SCALAR.version,
  scope: "required",
  purl: `pkg:npm/${reference.replace("@", "%40")}`,
  hashes: [{ alg: "SHA-512", content: Buffer.from(SCALAR.integrity.replace("sha512-", ""), "base64").toString("hex") }],
};
const whole = {
  ...bom,
  // npm takes the name of the folder.
  metadata: { ...bom.metadata, component: { ...bom.metadata.component, name: manifest.name } },
  components: [...bom.components.filter((each) => shipped.has(each["bom-ref"])), scalar],
  dependencies: bom.dependencies
    .filter(({ ref }) => shipped.has(ref) || ref === `${manifest.name}@${manifest.version}`)
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => shipped.has(each)) })),
};
process.stdout.write(`${JSON.stringify(whole, null, 2)}\n`);

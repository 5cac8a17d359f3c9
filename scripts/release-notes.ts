// npm run --silent release:notes -- v1.2.3: prints what CHANGELOG.md says about this version. Exit code 1, with a
// sentence, when it says nothing, or when package.json has another version than the tag.
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { cutReleaseNotes } from "./cut-release-notes.ts";

const [tag = ""] = process.argv.slice(2);
try {
  if (tag !== `v${manifest.version}`) throw new Error(`the tag is "${tag}", package.json has ${manifest.version}`);
  const changelog = await Bun.file(join(import.meta.dir, "../CHANGELOG.md")).text();
  process.stdout.write(cutReleaseNotes(changelog, manifest.version));
} catch (error) {
  process.stderr.write(`release notes: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

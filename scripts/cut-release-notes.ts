// The part of a changelog that is about one version. No I/O.

/** Without its heading. Throws with a sentence when there is no such part, it is empty, or it is not released yet. */
export function cutReleaseNotes(changelog: string, version: string): string {
  const parts = changelog.split(/^## /m).slice(1);
  const part = parts.find((text) => text.split(/\s/, 1)[0] === version);
  if (part === undefined) throw new Error(`CHANGELOG.md has no part about ${version}`);
  const [heading = "", ...lines] = part.split("\n");
  if (heading.includes("unreleased")) throw new Error(`CHANGELOG.md says that ${version} is unreleased`);
  const notes = lines.join("\n").trim();
  if (notes === "") throw new Error(`CHANGELOG.md says nothing about ${version}`);
  return `${notes}\n`;
}

/** Without case: equal for two texts that differ only in it. A sigma at the end of a word has a small letter of its own. */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ");
}

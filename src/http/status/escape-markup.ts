// Makes text of others safe in HTML, SVG and XML: as content, and in attributes in double quotes.

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** What XML 1.0 does not allow, and what turns the direction of the text around it. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufffe\uffff]/gu;

export function escapeMarkup(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** At most so many characters, as a reader counts them, with an ellipsis for the rest. */
export function shorten(text: string, lengthMax: number): string {
  const parts = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  return parts.length <= lengthMax ? text : `${parts.slice(0, lengthMax - 1).join("")}…`;
}

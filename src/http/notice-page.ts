// A plain page that is sent when the files of a page are missing: it says what is missing and how to get it.
import { PAGE_HEADERS } from "./page-headers.ts";

/** `title` and `paragraphs` are HTML of our own. */
export function answerNotice(title: string, paragraphs: readonly string[]): Response {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Gatehouse</title>
<body style="font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 15vh auto; padding: 0 1rem">
<h1>${title}</h1>
${paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join("\n")}
`;
  const headers = {
    ...PAGE_HEADERS,
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
  };
  return new Response(page, { status: 503, headers });
}

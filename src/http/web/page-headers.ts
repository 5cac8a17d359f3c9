// The headers of every page and its files: they may load from and call only this server, and may not be framed.

/** Inline styles are allowed, because both pages create style elements. Inline scripts are not. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** On every answer: browsers must not guess that JSON, text or an error is a page. */
export const NO_SNIFFING = { "X-Content-Type-Options": "nosniff" };

export const PAGE_HEADERS = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  ...NO_SNIFFING,
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};

/** For files that may change: browsers check the ETag before they use a cached copy. */
export const REVALIDATE = "no-cache";
/** For files whose name changes with their contents. */
export const CACHE_FOR_EVER = "public, max-age=31536000, immutable";

/** A page of a few sentences, such as what is missing and how to get it. `title` and `paragraphs` are HTML of our own. */
export function answerNotice(title: string, paragraphs: readonly string[], status = 503): Response {
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
  const headers = { ...PAGE_HEADERS, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" };
  return new Response(page, { status, headers });
}

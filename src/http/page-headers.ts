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

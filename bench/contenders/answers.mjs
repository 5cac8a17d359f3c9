// Shared by the JavaScript contenders on Node and Bun: tokens, bodies for each set of sections, headers and error bodies.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const LIMIT = 120;
export const WINDOW_MS = 60_000;
export const SECTIONS = [
  "Players",
  "Staff",
  "JoinLogs",
  "Queue",
  "KillLogs",
  "CommandLogs",
  "ModCalls",
  "EmergencyCalls",
  "Vehicles",
];
export const INVALID_TOKEN = JSON.stringify({ code: 5008, message: "invalid_token" });
export const OBSOLETE = JSON.stringify({
  code: 5018,
  message: "Endpoint устарел. Используйте более новую версию API.",
});

/** The known tokens, and the body for a query, which is built once for each set of sections. */
export function readStage(folder) {
  const read = (name) => readFileSync(join(folder, "parts", name), "utf8");
  const base = read("base");
  const sections = SECTIONS.map(read);
  const tokens = new Set(readFileSync(join(folder, "tokens.txt"), "utf8").split("\n").filter(Boolean));
  const bodies = new Map();

  function findBody(query) {
    let set = 0;
    for (const [bit, name] of SECTIONS.entries()) if (query[name] === "true") set |= 1 << bit;
    let body = bodies.get(set);
    if (!body) {
      const chosen = SECTIONS.map((name, bit) => (set & (1 << bit) ? `,"${name}":${sections[bit]}` : ""));
      const bytes = Buffer.from(`${base}${chosen.join("")}}`);
      const hash = createHash("sha1").update(bytes).digest("hex").slice(0, 13);
      body = { bytes, etag: `W/"${hash}"` };
      bodies.set(set, body);
    }
    return body;
  }

  const isKnown = (header) => header?.startsWith("Bearer ") && tokens.has(header.slice(7));
  return { findBody, isKnown, readAt: Date.now(), tokenCount: tokens.size };
}

export function readingHeaders(body, readAt, remaining, resetSeconds) {
  return {
    "Content-Type": "application/json",
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    Vary: "Accept-Encoding",
    ETag: body.etag,
    "X-Cache": "hit",
    Age: String(Math.floor((Date.now() - readAt) / 1000)),
    ...limitHeaders(remaining, resetSeconds),
  };
}

export function refusalHeaders(more) {
  return {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...more,
  };
}

export function limitHeaders(remaining, resetSeconds) {
  return {
    "X-RateLimit-Limit": String(LIMIT),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(resetSeconds),
    "X-RateLimit-Bucket": "server",
  };
}

export function limitedBody(count, resetAt, now) {
  const details = { limit: LIMIT, count, excess: count - LIMIT, reset_at: resetAt };
  const retry_after = secondsUntil(resetAt, now);
  return JSON.stringify({ code: 5016, message: "rate_limit_exceeded", retry_after, details });
}

export const secondsUntil = (instant, now) => Math.max(1, Math.ceil((instant - now) / 1000));

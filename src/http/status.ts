// The public status of a server, without a key: as a page, as JSON, as a badge, and its outages as a feed.
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import { STATUS_SLUG_SHAPE } from "../core/game-server.ts";
import { NOT_FOUND } from "../core/refuse-field.ts";
import { Body } from "../gateway/body.ts";
import type { AddressLimit } from "../gateway/status/address-limit.ts";
import type { PublicStatuses, StatusFacts } from "../gateway/status/public-statuses.ts";
import { answerRefusal, NOT_CONFIGURED } from "./answers.ts";
import type { Call } from "./call.ts";
import { isMatchingEtag } from "./conditional.ts";
import { NO_SNIFFING, PAGE_HEADERS } from "./page-headers.ts";
import { queryOf } from "./parse-request.ts";
import { findGzipped } from "./send-body.ts";
import { shareBody } from "./share-body.ts";
import { describeBadge, drawBadge } from "./status/badge.ts";
import { describeStatus } from "./status/describe-status.ts";
import { writeFeed } from "./status/outage-feed.ts";
import { writeStatusPage } from "./status/status-page.ts";
import { chooseLanguage } from "./status/status-words.ts";

/** Short, so that a proxy in front of us takes a flood, and people still see what is true now. */
const CACHED = "public, max-age=15";
/** Everybody may show these on pages of their own. */
const FOR_ALL_PAGES = {
  ...NO_SNIFFING,
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
};
/** The page has no script, and loads nothing but its empty icon. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PICTURE_POLICY = "default-src 'none'; sandbox";
const ARCHIVE_AWAY = refuse(
  ERRORS.unavailable,
  { retry_after: 5, details: { archive: "cannot be read now" } },
  { "Retry-After": "5" },
);

type Kind = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly write: (facts: StatusFacts) => string;
};

const JSON_KIND: Kind = {
  name: "json",
  headers: { ...FOR_ALL_PAGES, "Content-Type": "application/json" },
  write: (facts) => JSON.stringify(describeStatus(facts)),
};
const BADGE_KIND: Kind = {
  name: "badge.svg",
  headers: {
    ...FOR_ALL_PAGES,
    "Content-Type": "image/svg+xml; charset=utf-8",
    "Content-Security-Policy": PICTURE_POLICY,
  },
  write: drawBadge,
};
const BADGE_JSON_KIND: Kind = {
  name: "badge.json",
  headers: { ...FOR_ALL_PAGES, "Content-Type": "application/json" },
  write: (facts) => JSON.stringify(describeBadge(facts)),
};

export type StatusHandlersParts = {
  readonly statuses: PublicStatuses;
  readonly limit: AddressLimit;
  readonly findAddress: (call: Call) => string;
  /** Undefined when the operator has not set it. */
  readonly publicUrl: string | undefined;
};

export class StatusHandlers {
  readonly #parts: StatusHandlersParts;
  /** What was written of each status; it goes when the status is put together anew. */
  readonly #bodies = new WeakMap<StatusFacts, Map<string, Body>>();

  constructor(parts: StatusHandlersParts) {
    this.#parts = parts;
  }

  async answerPage(call: Call): Promise<Response> {
    const query = queryOf(call);
    const language = chooseLanguage(query.get("lang"), call.request.headers.get("accept-language"));
    const isReloading = query.get("reload") !== "off";
    return this.#answer(call, {
      name: `page ${language} ${isReloading}`,
      headers: {
        ...PAGE_HEADERS,
        "Content-Security-Policy": PAGE_POLICY,
        "Content-Type": "text/html; charset=utf-8",
        "Content-Language": language,
        Vary: "Accept-Language, Accept-Encoding",
      },
      write: (facts) => writeStatusPage(facts, { language, isReloading }),
    });
  }

  answerJson(call: Call): Promise<Response> {
    return this.#answer(call, JSON_KIND);
  }

  answerBadge(call: Call): Promise<Response> {
    return this.#answer(call, BADGE_KIND);
  }

  answerBadgeJson(call: Call): Promise<Response> {
    return this.#answer(call, BADGE_JSON_KIND);
  }

  async answerFeed(call: Call): Promise<Response> {
    const facts = await this.#read(call);
    if (isRefusal(facts)) return answerRefusal(call, facts);
    const { outages } = facts;
    if (!outages) {
      // An empty feed would say that there was no outage.
      const { hasChanges } = this.#parts.statuses;
      return answerRefusal(call, hasChanges ? ARCHIVE_AWAY : NOT_CONFIGURED);
    }
    return this.#send(call, facts, {
      name: "feed.atom",
      headers: { ...FOR_ALL_PAGES, "Content-Type": "application/atom+xml; charset=utf-8" },
      write: () => writeFeed({ ...facts, outages }, this.#parts.publicUrl),
    });
  }

  async #answer(call: Call, kind: Kind): Promise<Response> {
    const facts = await this.#read(call);
    return isRefusal(facts) ? answerRefusal(call, facts) : this.#send(call, facts, kind);
  }

  async #read(call: Call): Promise<StatusFacts | Refusal> {
    const { statuses, limit, findAddress } = this.#parts;
    // Before the slug is looked up, so that slugs cannot be tried in numbers.
    const refusal = limit.judge(findAddress(call), call.now);
    if (refusal) return refusal;
    const slug = call.target.params.slug ?? "";
    return (STATUS_SLUG_SHAPE.test(slug) ? await statuses.read(slug) : undefined) ?? NOT_FOUND;
  }

  #send(call: Call, facts: StatusFacts, kind: Kind): Response {
    const body = this.#bodyOf(facts, kind);
    const { headers: requested } = call.request;
    const headers = new Headers({ Vary: "Accept-Encoding", ...kind.headers });
    headers.set("Cache-Control", CACHED);
    headers.set("ETag", body.etag);
    if (isMatchingEtag(requested.get("if-none-match"), body.etag)) {
      return new Response(null, { status: 304, headers });
    }
    const gzipped = findGzipped(requested, body);
    if (gzipped) headers.set("Content-Encoding", "gzip");
    return new Response(shareBody(gzipped ?? body.bytes), { headers });
  }

  #bodyOf(facts: StatusFacts, { name, write }: Kind): Body {
    const known = this.#bodies.get(facts) ?? new Map<string, Body>();
    this.#bodies.set(facts, known);
    const body = known.get(name) ?? new Body(write(facts));
    known.set(name, body);
    return body;
  }
}

// The public status of a server, without a key: as a page, as JSON, as a badge, and its outages as a feed.
import { createHash } from "node:crypto";
import Type from "typebox";
import { DAY_MS } from "../../core/durations.ts";
import { ERRORS, isRefusal, NOT_FOUND, type Refusal, refuseFor } from "../../core/errors.ts";
import { STATUS_SLUG_SHAPE } from "../../core/game-server.ts";
import { StatusBadge, StatusResource } from "../../core/wire/status.ts";
import { Body } from "../../gateway/body.ts";
import type { AddressLimit, PublicStatuses, StatusFacts } from "../../gateway/status/public-statuses.ts";
import { answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { type Answer, type OpenOperation, showsEach, UNCHANGED } from "../operation.ts";
import { IF_NONE_MATCH } from "../requests/parameters.ts";
import { queryOf } from "../requests/query-fields.ts";
import { isMatchingEtag } from "../sending/conditional.ts";
import { findGzipped, shareBody } from "../sending/send-body.ts";
import { NO_SNIFFING, PAGE_HEADERS } from "../web/page-headers.ts";
import { describeBadge, drawBadge } from "./badge.ts";
import { escapeMarkup } from "./escape-markup.ts";
import { writeStatusPage } from "./status-page.ts";
import { chooseLanguage, formatDuration, STATUS_WORDS } from "./status-words.ts";

type Deps = { readonly status: StatusHandlers };

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
const ARCHIVE_AWAY = refuseFor(ERRORS.unavailable, 5, { details: { archive: "cannot be read now" } });

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

const HEADERS: readonly HeaderName[] = ["CacheControl", "ETag", "Vary", "AllowOrigin", "ResourcePolicy"];
const LIMITED =
  "Made anew at most every 5 seconds, never by a call to the game API. An address has 60 requests a minute for all public statuses together, apart from the limits of API keys. A slug that does not exist and a status that is not public are the same: 404.";
const HOUR = { at: 1_794_718_800_000, known: 1, min: 18, avg: 22.4, max: 27 } as const;

const STATUS_EXAMPLE: StatusResource = {
  name: "Cedar County",
  state: "online",
  players: 23,
  max_players: 40,
  queue: 2,
  join_key: null,
  read_at: 1_794_722_320_863,
  age_seconds: 2,
  history: [HOUR],
  outages: [{ state: "unreachable", from: 1_794_700_000_000, to: 1_794_700_300_000 }],
};

const BADGE_EXAMPLE: StatusBadge = {
  schemaVersion: 1,
  label: "Cedar County",
  message: "23/40 online",
  color: "brightgreen",
  cacheSeconds: 300,
};

export const statusOperations = {
  readJson: defineStatus({
    id: "readStatus",
    summary: "How is the server?",
    description: `The same as a page for people is at \`/status/{slug}\`. ${LIMITED}`,
    shown: showsEach("What everybody may know. It names no player.", StatusResource, {
      online: ["An online server", STATUS_EXAMPLE],
    }),
    answer: ({ status }, call) => status.answer(call, JSON_KIND),
  }),

  readBadge: defineStatus({
    id: "readStatusBadge",
    summary: "A badge",
    shown: {
      description: "A small picture with the name of the server and how many play.",
      headers: ["SecurityPolicy"],
      mediaType: "image/svg+xml",
      schema: Type.String(),
      examples: {},
    },
    answer: ({ status }, call) => status.answer(call, BADGE_KIND),
  }),

  readBadgeJson: defineStatus({
    id: "readShieldsBadge",
    summary: "A badge for shields.io",
    shown: showsEach("What shields.io reads from an endpoint.", StatusBadge, {
      online: ["An online server", BADGE_EXAMPLE],
    }),
    answer: ({ status }, call) => status.answer(call, BADGE_JSON_KIND),
  }),

  readFeed: defineStatus({
    id: "readOutageFeed",
    summary: "A feed of outages",
    description: `It needs the archive: without one the answer is 501 with code 5110. ${LIMITED}`,
    shown: {
      description: "When the server was not online in the last seven days, as Atom.",
      mediaType: "application/atom+xml",
      schema: Type.String(),
      examples: {},
    },
    errors: ["notConfigured"],
    answer: ({ status }, call) => status.answerFeed(call),
  }),
};

type StatusDefinition = Pick<OpenOperation<Deps>, "id" | "summary" | "description" | "errors" | "answer"> & {
  readonly shown: Answer;
};

function defineStatus({ shown, errors = [], description = LIMITED, ...rest }: StatusDefinition): OpenOperation<Deps> {
  const headers = [...HEADERS, ...(shown.headers ?? [])];
  return {
    ...rest,
    tag: "Public status",
    description,
    parameters: [IF_NONE_MATCH],
    answers: { 200: { ...shown, headers }, 304: { description: UNCHANGED, headers } },
    errors: ["addressLimited", "notFound", "internal", "unavailable", ...errors],
  };
}

export type StatusHandlersDeps = {
  readonly statuses: PublicStatuses;
  readonly limit: AddressLimit;
  readonly findAddress: (call: Call) => string;
  /** Undefined when the operator has not set it. */
  readonly publicUrl: string | undefined;
};

export class StatusHandlers {
  /** What was written of each status; it goes when the status is put together anew. */
  readonly #bodies = new WeakMap<StatusFacts, Map<string, Body>>();

  constructor(private readonly deps: StatusHandlersDeps) {}

  async answerPage(call: Call): Promise<Response> {
    const query = queryOf(call);
    const language = chooseLanguage(query.get("lang"), call.request.headers.get("accept-language"));
    const isReloading = query.get("reload") !== "off";
    return this.answer(call, {
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

  async answerFeed(call: Call): Promise<Response> {
    const facts = await this.#read(call);
    if (isRefusal(facts)) return answerRefusal(call, facts);
    const { outages } = facts;
    if (!outages) {
      // An empty feed would say that there was no outage.
      const { hasChanges } = this.deps.statuses;
      return answerRefusal(call, hasChanges ? ARCHIVE_AWAY : NOT_CONFIGURED);
    }
    return this.#send(call, facts, {
      name: "feed.atom",
      headers: { ...FOR_ALL_PAGES, "Content-Type": "application/atom+xml; charset=utf-8" },
      write: () => writeFeed({ ...facts, outages }, this.deps.publicUrl),
    });
  }

  async answer(call: Call, kind: Kind): Promise<Response> {
    const facts = await this.#read(call);
    return isRefusal(facts) ? answerRefusal(call, facts) : this.#send(call, facts, kind);
  }

  async #read(call: Call): Promise<StatusFacts | Refusal> {
    const { statuses, limit, findAddress } = this.deps;
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

export function describeStatus(facts: StatusFacts): StatusResource {
  const { readAt, builtAt } = facts;
  return {
    name: facts.name,
    state: facts.state,
    players: facts.players,
    max_players: facts.playersMax,
    queue: facts.queue,
    join_key: facts.joinKey,
    read_at: readAt,
    age_seconds: readAt === null ? null : Math.max(0, Math.round((builtAt - readAt) / 1000)),
    history: facts.hours && [...facts.hours],
    outages: facts.outages && [...facts.outages],
  };
}

type Outages = NonNullable<StatusFacts["outages"]>;
type FeedFacts = Pick<StatusFacts, "serverId" | "slug" | "name" | "builtAt"> & { readonly outages: Outages };

/** Addresses are relative when ours is not known: `publicUrl` is undefined then. */
export function writeFeed(facts: FeedFacts, publicUrl: string | undefined): string {
  const { serverId, slug, name, outages, builtAt } = facts;
  const page = `${publicUrl ?? ""}/status/${slug}`;
  // Without an outage the feed has not changed today.
  const updated = outages.reduce((newest, outage) => Math.max(newest, updatedAt(outage)), 0);
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${nameEntry(serverId, "feed")}</id>
<title>${escapeMarkup(name)}: outages</title>
<updated>${formatTime(updated || Math.floor(builtAt / DAY_MS) * DAY_MS)}</updated>
<author><name>Gatehouse</name></author>
<link rel="self" type="application/atom+xml" href="${escapeMarkup(page)}/feed.atom"/>
<link rel="alternate" type="text/html" href="${escapeMarkup(page)}"/>
${outages.map((outage) => writeEntry(outage, facts, page)).join("")}</feed>
`;
}

function writeEntry(outage: Outages[number], { serverId, name }: FeedFacts, page: string): string {
  const { state, from, to } = outage;
  const title = to === null ? `is ${state}` : `was ${state} for ${formatDuration(to - from, STATUS_WORDS.en)}`;
  const end = to === null ? "It is not over." : `To ${formatTime(to)}.`;
  return `<entry>
<id>${nameEntry(serverId, `${state} ${from}`)}</id>
<title>${escapeMarkup(name)} ${title}</title>
<published>${formatTime(from)}</published>
<updated>${formatTime(updatedAt(outage))}</updated>
<link rel="alternate" type="text/html" href="${escapeMarkup(page)}"/>
<content type="text">${escapeMarkup(name)} ${to === null ? "is" : "was"} ${state}. From ${formatTime(from)}. ${end}</content>
</entry>
`;
}

function updatedAt({ from, to }: Outages[number]): number {
  return to ?? from;
}

function formatTime(at: number): string {
  return new Date(at).toISOString();
}

/** An id that stays the same for ever, also when the address of the page changes, and says nothing else. */
function nameEntry(serverId: string, entry: string): string {
  const hex = createHash("sha256").update(`status feed ${serverId} ${entry}`).digest("hex");
  // Version 8 is for ids of one's own making (RFC 9562).
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return `urn:uuid:${uuid}`;
}

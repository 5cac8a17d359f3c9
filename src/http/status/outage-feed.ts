// The feed of outages, as Atom (RFC 4287).
import { createHash } from "node:crypto";
import { DAY_MS } from "../../core/durations.ts";
import type { StatusFacts } from "../../gateway/status/public-statuses.ts";
import { escapeMarkup } from "./escape-markup.ts";
import { formatDuration, STATUS_WORDS } from "./status-words.ts";

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
  const title =
    to === null ? `is ${state}` : `was ${state} for ${formatDuration(to - from, STATUS_WORDS.en)}`;
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

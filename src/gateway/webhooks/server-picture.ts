// What is known of a server now, for the status message: the last reading and what became of it.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Element } from "../../core/events/elements.ts";
import type { ServerState } from "../../core/events/memory.ts";
import { parseExactJson } from "../../core/exact-json.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { SECTIONS, type Section } from "../../core/sections.ts";
import type { ServerPicture } from "../../core/webhooks/discord/status-message.ts";
import type { Relay } from "../readings/relay.ts";

/** A server is shown as unreachable when no reading succeeded for this long. */
const UNREACHABLE_AFTER_MS = 60_000;
const SHOWN_SECTIONS: readonly Section[] = ["Players", "Queue", "Staff", "ModCalls", "EmergencyCalls"];

const STATES: Readonly<Record<ReturnType<Relay["summarize"]>["state"], ServerState | null>> = {
  online: "online",
  offline: "offline",
  unreachable: "unreachable",
  key_refused: "unreachable",
  not_asked: null,
  parked: null,
};

export type PictureParts = {
  readonly relay: Pick<Relay, "fetchNews" | "findSnapshot" | "summarize">;
  readonly servers: Pick<ServerStore, "find">;
};

/** Undefined when there is no such server. Makes no call to the game API. */
export async function readPicture(
  { relay, servers }: PictureParts,
  serverId: string,
  now: number,
): Promise<ServerPicture | undefined> {
  const server = servers.find(serverId);
  if (!server) return undefined;
  try {
    // Another instance may be the one that watches.
    await relay.fetchNews(server, now);
  } catch (error) {
    // What this instance knows by itself is shown then.
    if (!(error instanceof StoreUnavailable)) throw error;
  }
  const { state, lastReadAt } = relay.summarize(server);
  const snapshot = relay.findSnapshot(server);
  const wasOnline = snapshot !== undefined && snapshot.fetchedAt === lastReadAt;
  const isStillOnline = wasOnline && now - snapshot.fetchedAt < UNREACHABLE_AFTER_MS;
  const known = STATES[state];
  return {
    state: known === "unreachable" && isStillOnline ? "online" : known,
    settings: snapshot ? (parseExactJson(`${snapshot.parts.base}}`) as Element) : null,
    sections: snapshot ? parseSections(snapshot.parts.sections) : {},
    readAt: lastReadAt,
  };
}

function parseSections(texts: readonly string[]): ServerPicture["sections"] {
  return Object.fromEntries(
    SHOWN_SECTIONS.map((section) => [section, parseExactJson(texts[SECTIONS.indexOf(section)] ?? "null")]),
  );
}

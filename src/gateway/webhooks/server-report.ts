// What is known of a server now, for the status message.
import type { Element } from "../../core/events/elements.ts";
import { parseExactJson } from "../../core/exact-json.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { SECTIONS, type Section } from "../../core/sections.ts";
import type { ServerReport } from "../../core/webhooks/discord/status-message.ts";
import { describeShown, type ShownParts } from "../readings/shown-state.ts";
import type { Watcher } from "../readings/watcher.ts";

const SHOWN_SECTIONS: readonly Section[] = ["Players", "Queue", "Staff", "ModCalls", "EmergencyCalls"];

export type ReportDeps = {
  readonly relay: ShownParts["relay"];
  readonly watcher: Pick<Watcher, "catchUpOn" | "planOf">;
  readonly servers: Pick<ServerStore, "find">;
};

/** Undefined when there is no such server. Makes no call to the game API. */
export async function readReport(
  { relay, watcher, servers }: ReportDeps,
  serverId: string,
  now: number,
): Promise<ServerReport | undefined> {
  const server = servers.find(serverId);
  if (!server) return undefined;
  // Another instance may be the one that watches.
  await watcher.catchUpOn(server);
  const { state, lastReadAt, snapshot } = describeShown({ relay, watcher }, server, now);
  return {
    state,
    settings: snapshot ? (parseExactJson(`${snapshot.parts.base}}`) as Element) : null,
    sections: snapshot ? parseSections(snapshot.parts.sections) : {},
    readAt: lastReadAt,
  };
}

function parseSections(texts: readonly string[]): ServerReport["sections"] {
  return Object.fromEntries(
    SHOWN_SECTIONS.map((section) => [section, parseExactJson(texts[SECTIONS.indexOf(section)] ?? "null")]),
  );
}

// Lists commands, the newest first, over one server or all of them. Each server has a history of its own, so that what is
// listed over all is put together here, page by page.
import type { Command } from "../../core/command.ts";
import type { CommandFilter } from "../../core/ports/commands.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { askInTurns } from "./ask-in-turns.ts";
import { type Listed, parsePart } from "./command-replies.ts";
import { LOOKS_MAX } from "./command-scripts.ts";
import type { Reply } from "./redis-link.ts";

/** How many servers are asked for a whole page at the same time: the first few often have all of it. */
const PAGES_AT_ONCE = 10;

type Position = { readonly seq: number; readonly commandId: string };

/** The histories of the servers, and which servers there are. */
export type CommandHistories = {
  /** Runs command-list.lua on one server's history. */
  readonly runList: (serverId: string, args: readonly (string | number)[]) => Promise<Reply>;
  readonly listServerIds: () => readonly string[];
  /** At least those servers that have commands which wait or are being sent. */
  readonly listMarked: () => Promise<readonly string[]>;
};

export async function listCommands(
  histories: CommandHistories,
  { limit, cursor, serverId, status }: PageRequest & CommandFilter,
): Promise<Page<Command>> {
  const after = parseCursor(cursor);
  const found =
    serverId === undefined
      ? await listOverServers(histories, after, status ?? "", limit + 1)
      : await listPart(histories, serverId, after, status ?? "", limit + 1);
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ command }) => command),
    next: found.length > limit && last ? toCursor(last) : null,
  };
}

/** Asks those servers first whose newest command is the newest, and no more of them than can matter. */
async function listOverServers(
  histories: CommandHistories,
  after: Position,
  status: string,
  limit: number,
): Promise<Listed[]> {
  const isOpen = status === "queued" || status === "sending";
  const serverIds = isOpen ? await histories.listMarked() : histories.listServerIds();
  const heads = await askInTurns(serverIds, async (serverId) => {
    const [newest] = await listPart(histories, serverId, after, "", 1);
    return newest ? [{ serverId, seq: newest.seq }] : [];
  });
  const sorted = heads.flat().sort((a, b) => b.seq - a.seq);
  let listed: Listed[] = [];
  for (let i = 0; i < sorted.length; i += PAGES_AT_ONCE) {
    const batch = sorted.slice(i, i + PAGES_AT_ONCE);
    const last = listed[limit - 1];
    if (last && batch[0] && last.seq > batch[0].seq) break;
    const parts = await Promise.all(
      batch.map(({ serverId }) => listPart(histories, serverId, after, status, limit)),
    );
    listed = [...listed, ...parts.flat()]
      .sort((a, b) => compareNewestFirst(toPosition(a), toPosition(b)))
      .slice(0, limit);
  }
  return listed;
}

/** The newest of one server that come after that position in the list. */
async function listPart(
  { runList }: CommandHistories,
  serverId: string,
  after: Position,
  status: string,
  limit: number,
): Promise<Listed[]> {
  const listed: Listed[] = [];
  // With the one at the position itself: another server may have one with the same seq.
  let before: number | undefined = after.seq + 1;
  while (before !== undefined && listed.length < limit) {
    const part = parsePart(await runList(serverId, [before, status, limit - listed.length + 1, LOOKS_MAX]));
    listed.push(...part.found.filter((one) => compareNewestFirst(after, toPosition(one)) < 0));
    before = part.before;
  }
  return listed;
}

function toPosition({ seq, command }: Listed): Position {
  return { seq, commandId: command.commandId };
}

function compareNewestFirst(a: Position, b: Position): number {
  if (a.seq !== b.seq) return b.seq - a.seq;
  if (a.commandId === b.commandId) return 0;
  return a.commandId > b.commandId ? -1 : 1;
}

function toCursor(last: Listed): string {
  return `${last.seq.toString(36)}.${last.command.commandId}`;
}

/** What is no cursor stands for the end. */
function parseCursor(cursor: string | undefined): Position {
  if (cursor === undefined) return { seq: Number.MAX_SAFE_INTEGER - 1, commandId: "" };
  const [seq = "", commandId = ""] = cursor.split(".");
  return { seq: Number.parseInt(seq, 36) || 0, commandId };
}

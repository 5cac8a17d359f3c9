// Lists commands, newest first, of one server or of all. Each server has its own history; a list of all servers is merged
// here.
import type { Command } from "../../core/command.ts";
import type { CommandFilter } from "../../core/ports/commands.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { type Listed, parsePart } from "./command-replies.ts";
import { SCAN_MAX } from "./command-scripts.ts";
import { mapInBatches } from "./map-in-batches.ts";
import type { Reply } from "./redis-link.ts";

/** How many servers are read at a time for a whole page: the first few often have all of it. */
const SERVERS_AT_ONCE = 10;

/** How many parts of a history are read for a page of one key's commands. */
const PARTS_OF_KEY_MAX = 20;
/** Comes before every command with the same seq. */
const FIRST_ID = "~";

type Position = { readonly seq: number; readonly commandId: string };

export type CommandHistories = {
  /** Runs command-list.lua on one server's history. */
  readonly runList: (serverId: string, args: readonly (string | number)[]) => Promise<Reply>;
  readonly listServerIds: () => readonly string[];
  /** Every server with a command that waits or is being sent; maybe others too. */
  readonly listMarked: () => Promise<readonly string[]>;
};

export async function listCommands(
  histories: CommandHistories,
  { limit, cursor, serverId, keyId, status }: PageRequest & CommandFilter,
): Promise<Page<Command>> {
  const after = parseCursor(cursor);
  if (serverId !== undefined && keyId !== undefined)
    return listOfKey(histories, serverId, keyId, after, status ?? "", limit);
  const found =
    serverId === undefined
      ? await listOverServers(histories, after, status ?? "", limit + 1)
      : await listPart(histories, serverId, after, status ?? "", limit + 1);
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ command }) => command),
    next: found.length > limit && last ? toCursor(toPosition(last)) : null,
  };
}

/** A bounded number of parts is read: when most commands are other keys', the page is short and the next one goes on. */
async function listOfKey(
  { runList }: CommandHistories,
  serverId: string,
  keyId: string,
  after: Position,
  status: string,
  limit: number,
): Promise<Page<Command>> {
  const listed: Listed[] = [];
  let before: number | undefined = after.seq + 1;
  for (let parts = 0; parts < PARTS_OF_KEY_MAX && before !== undefined && listed.length <= limit; parts++) {
    const args = [before, status, limit - listed.length + 2, SCAN_MAX, keyId];
    const part = parsePart(await runList(serverId, args));
    listed.push(...part.found.filter((one) => compareNewestFirst(after, toPosition(one)) < 0));
    before = part.before;
  }
  const shown = listed.slice(0, limit);
  const last = shown.at(-1);
  const items = shown.map(({ command }) => command);
  if (last && listed.length > limit) return { items, next: toCursor(toPosition(last)) };
  return { items, next: before === undefined ? null : toCursor({ seq: before - 1, commandId: FIRST_ID }) };
}

/** Reads the servers with the newest commands first, and stops when the others cannot have anything for this page. */
async function listOverServers(
  histories: CommandHistories,
  after: Position,
  status: string,
  limit: number,
): Promise<Listed[]> {
  const isOpen = status === "queued" || status === "sending";
  const serverIds = isOpen ? await histories.listMarked() : histories.listServerIds();
  const heads = await mapInBatches(serverIds, async (serverId) => {
    const [newest] = await listPart(histories, serverId, after, status, 1);
    return newest ? [{ serverId, seq: newest.seq }] : [];
  });
  const sorted = heads.flat().sort((a, b) => b.seq - a.seq);
  let listed: Listed[] = [];
  for (let i = 0; i < sorted.length; i += SERVERS_AT_ONCE) {
    const batch = sorted.slice(i, i + SERVERS_AT_ONCE);
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

/** The newest commands of one server that come after the position in the list. */
async function listPart(
  { runList }: CommandHistories,
  serverId: string,
  after: Position,
  status: string,
  limit: number,
): Promise<Listed[]> {
  const listed: Listed[] = [];
  // Including the seq of the position itself: another server may have a command with the same seq.
  let before: number | undefined = after.seq + 1;
  while (before !== undefined && listed.length < limit) {
    const part = parsePart(
      await runList(serverId, [before, status, limit - listed.length + 1, SCAN_MAX, ""]),
    );
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

function toCursor({ seq, commandId }: Position): string {
  return `${seq.toString(36)}.${commandId}`;
}

/** An invalid cursor means the end of the list. */
function parseCursor(cursor: string | undefined): Position {
  if (cursor === undefined) return { seq: Number.MAX_SAFE_INTEGER - 1, commandId: "" };
  const [seq = "", commandId = ""] = cursor.split(".");
  return { seq: Number.parseInt(seq, 36) || 0, commandId };
}

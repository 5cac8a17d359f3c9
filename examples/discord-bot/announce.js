// Posts joins and calls for a moderator into a channel, each once, over restarts of this bot and of Gatehouse.
import { createHash } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { escapeMarkdown } from "discord.js";

const TYPES = ["player.joined", "modcall.opened"];
const POST_BACKOFF_MS = [1_000, 5_000, 15_000, 60_000];

/**
 * `post(message)` resolves when Discord has the message. The cursor is saved after that, so nothing is lost; the nonce makes
 * Discord drop the message when this program was killed between the two. Throws GatehouseError for a refusal that stays.
 */
export async function announce({ gatehouse, cursorFile, post, signal, onProblem }) {
  const after = (await readCursor(cursorFile)) ?? (await saveStart({ gatehouse, cursorFile, signal }));
  const events = gatehouse.events({ after, types: TYPES, signal, onOutage: onProblem });
  for await (const event of events) {
    const content = describe(event);
    if (content !== undefined && !(await postUntilDone({ event, content, post, signal, onProblem }))) return;
    await saveCursor(cursorFile, event.id);
  }
  // It has moved on past the events of other types.
  if (events.cursor !== undefined) await saveCursor(cursorFile, events.cursor);
}

/** What to post for an event; undefined for nothing. */
export function describe({ type, backfill, data }) {
  // What was there before Gatehouse first read the server is not news.
  if (backfill) return undefined;
  if (type === "gap") return "Some joins or calls may be missing here.";
  if (type === "player.joined") return `**${nameOf(data.Player)}** has joined.`;
  if (type === "modcall.opened") return `**${nameOf(data.Caller)}** calls for a moderator.`;
  return undefined;
}

/** The name from `<player_name>:<player_id>`; emergency calls have only the id, as a number. */
function nameOf(player) {
  return escapeMarkdown(String(player ?? "somebody").replace(/:\d+$/, ""));
}

/** False when the bot stops before Discord has it. */
async function postUntilDone({ event, content, post, signal, onProblem }) {
  // Discord takes 25 characters. For a few minutes it remembers them and makes no second message with the same ones.
  const nonce = createHash("sha256").update(event.id).digest("base64url").slice(0, 25);
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await post({ content, nonce, enforce_nonce: true, allowed_mentions: { parse: [] } });
      return true;
    } catch (error) {
      onProblem(error);
      // Discord will never take this one.
      if (error.status === 400) return true;
      const waitMs = POST_BACKOFF_MS[Math.min(failures, POST_BACKOFF_MS.length - 1)];
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
  }
  return false;
}

/** Now, saved at once: a bot that is killed before its first post goes on from here. */
async function saveStart({ gatehouse, cursorFile, signal }) {
  const page = await gatehouse.listEvents({ after: "now", limit: 1, signal }).catch(() => undefined);
  // Without an answer the stream begins when it can be opened.
  if (page) await saveCursor(cursorFile, page.next);
  return page?.next;
}

async function readCursor(file) {
  try {
    return (await readFile(file, "utf8")).trim() || undefined;
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Atomic: after a crash the file has the old cursor or the new one. */
async function saveCursor(file, cursor) {
  const handle = await open(`${file}.new`, "w");
  try {
    await handle.writeFile(`${cursor}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

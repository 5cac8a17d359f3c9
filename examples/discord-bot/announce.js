// Posts joins and calls for a moderator into a channel, each once, over restarts of this bot and of Gatehouse.
import { createHash } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { escapeMarkdown } from "discord.js";
import { followStream } from "./stream.js";

const TYPES = ["player.joined", "modcall.opened"];
const POST_BACKOFF_MS = [1_000, 5_000, 15_000, 60_000];

/**
 * `post(message)` resolves when Discord has the message. The cursor is saved after that, so nothing is lost; the nonce makes
 * Discord drop the message when this program was killed between the two.
 */
export async function announce({ url, key, cursorFile, post, signal, onProblem }) {
  const after = (await readCursor(cursorFile)) ?? "now";
  for await (const message of followStream({ url, key, after, types: TYPES, signal, onProblem })) {
    const content = describe(message);
    if (content !== undefined && !(await postUntilDone({ message, content, post, signal, onProblem })))
      return;
    if (message.id) await saveCursor(cursorFile, message.id);
  }
}

/** What to post for a message of the stream; undefined for nothing. */
export function describe({ event, data }) {
  if (!TYPES.includes(event) && event !== "gap") return undefined;
  const { backfill, data: entry } = JSON.parse(data);
  // What was there before Gatehouse first read the server is not news.
  if (backfill) return undefined;
  if (event === "gap") return "Some joins or calls may be missing here.";
  if (event === "player.joined") return `**${nameOf(entry.Player)}** has joined.`;
  return `**${nameOf(entry.Caller)}** calls for a moderator.`;
}

/** The name from `<player_name>:<player_id>`. */
function nameOf(player = "somebody") {
  return escapeMarkdown(player.slice(0, player.lastIndexOf(":")) || player);
}

/** False when the bot stops before Discord has it. */
async function postUntilDone({ message, content, post, signal, onProblem }) {
  // Discord takes 25 characters. For a few minutes it remembers them and makes no second message with the same ones.
  const nonce = createHash("sha256").update(message.id).digest("base64url").slice(0, 25);
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

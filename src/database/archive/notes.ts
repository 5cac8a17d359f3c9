// Notes and warnings about players, written by those who moderate, and the record of one player, which has them.
import { FORGOTTEN_ID, PlayerEraser } from "../../core/events/forget-player.ts";
import { findWhereabouts } from "../../core/modcalls/mod-calls.ts";
import type { Who, WhoKind } from "../../core/people/who.ts";
import { AIMED_COMMANDS_MAX, NOTES_MAX } from "../../core/players/vocabulary.ts";
import type { AimedCommandRow, Note, PlayerFacts } from "../../core/ports/players.ts";
import { asFields, countRows, insertRow, type Sql, toStorable } from "../sql.ts";
import { FORGET_EVENTS_STEP, type Forgetting } from "./forgetting-rules.ts";
import { readOpenHistory } from "./history-questions.ts";
import { findKnown, isKnownPlayer, toFound } from "./known-players.ts";
import { findLedger, lockLedger } from "./ledger-rows.ts";
import { readModCallsOf } from "./mod-calls.ts";

type StoredNote = Omit<Note, "by"> & { readonly byKind: WhoKind; readonly byId: string; readonly byName: string };
const NOTE_FIELDS = asFields("note_id, at, kind, text, by_kind, by_id, by_name");

export async function listNotes(sql: Sql, serverId: string, player: string): Promise<Note[] | undefined> {
  const row = await findLedger(sql, serverId);
  const isKnown = row !== undefined && (await isKnownPlayer(sql, serverId, row.ledger, player));
  return isKnown ? readNotes(sql, row.ledger, player) : undefined;
}

export async function readNotes(sql: Sql, ledger: number, player: string): Promise<Note[]> {
  const rows = await sql.all<StoredNote>(
    `SELECT ${NOTE_FIELDS} FROM notes WHERE ledger = ?1 AND player = ?2 ORDER BY at DESC, note_id LIMIT ?3`,
    ...[ledger, player, NOTES_MAX],
  );
  return rows.map(({ byKind: kind, byId: id, byName: name, ...note }) => ({ ...note, by: { kind, id, name } }));
}

/** The ledger is locked, so that two writers do not both add the last one that fits. */
export async function addNote(
  sql: Sql,
  serverId: string,
  player: string,
  { noteId, text, kind, by, at }: Note,
): Promise<"done" | "full" | "unknown"> {
  const row = await lockLedger(sql, serverId);
  if (!row || !(await isKnownPlayer(sql, serverId, row.ledger, player))) return "unknown";
  const { ledger } = row;
  if ((await countRows(sql, "notes", "ledger = ?1 AND player = ?2", ledger, player)) >= NOTES_MAX) return "full";
  const author = { by_kind: by.kind, by_id: by.id, by_name: toStorable(by.name) };
  await insertRow(sql, "notes", { ledger, player, note_id: noteId, at, kind, text: toStorable(text), ...author });
  return "done";
}

export async function deleteNote(
  sql: Sql,
  serverId: string,
  player: string,
  noteId: string,
  by: Who | undefined,
): Promise<"done" | "unknown" | "not_own"> {
  const { ledger = 0 } = (await lockLedger(sql, serverId)) ?? {};
  const note = (await readNotes(sql, ledger, player)).find((one) => one.noteId === noteId);
  if (!note) return "unknown";
  if (by && (note.by.kind !== by.kind || note.by.id !== by.id)) return "not_own";
  await sql.run("DELETE FROM notes WHERE ledger = ?1 AND player = ?2 AND note_id = ?3", ...[ledger, player, noteId]);
  return "done";
}

/** Takes a player out of the texts of notes about others, a page at a time. Returns the time of the last; undefined at the end. */
export async function eraseFromNotes(
  sql: Sql,
  ledger: number,
  { player, names }: Forgetting,
  after: number,
): Promise<number | undefined> {
  const end = await sql.get<{ at: number }>(
    "SELECT at FROM notes WHERE ledger = ?1 AND at > ?2 ORDER BY at LIMIT 1 OFFSET ?3",
    ...[ledger, after, FORGET_EVENTS_STEP - 1],
  );
  const notes = await sql.all<{ player: string; note_id: string; text: string }>(
    "SELECT player, note_id, text FROM notes WHERE ledger = ?1 AND at > ?2 AND at <= ?3",
    ...[ledger, after, end?.at ?? Number.MAX_SAFE_INTEGER],
  );
  const eraser = new PlayerEraser({ id: player, names });
  const erased = notes.flatMap(({ player: about, note_id, text }) => {
    const left = eraser.eraseText(text);
    return left === text ? [] : [[ledger, about, note_id, left]];
  });
  await sql.runEach("UPDATE notes SET text = ?4 WHERE ledger = ?1 AND player = ?2 AND note_id = ?3", erased);
  return end?.at;
}

/** The record of one player: what is known, with commands, calls for a moderator and notes. */
export async function readPlayer(
  sql: Sql,
  serverId: string,
  player: string,
  now: number,
): Promise<PlayerFacts | undefined> {
  const ledger = (await findLedger(sql, serverId))?.ledger ?? 0;
  const open = await readOpenHistory(sql, serverId);
  const [known] = await findKnown(sql, ledger, [player]);
  const found = toFound(player, known, open, now);
  if (!found || player === FORGOTTEN_ID) return undefined;
  const { count, last } = await readModCallsOf(sql, ledger, player);
  const modCalls = { count, last: last && { ...last, ...findWhereabouts(last, open, known?.lastSeenAt ?? null, now) } };
  const commands = await listAimedCommands(sql, ledger, player);
  return { ...found, commands, modCalls, notes: await readNotes(sql, ledger, player) };
}

function listAimedCommands(sql: Sql, ledger: number, player: string): Promise<AimedCommandRow[]> {
  return sql.all<AimedCommandRow>(
    `SELECT number, mark, at, data, meta FROM command_targets JOIN events USING (ledger, number)
     WHERE ledger = ?1 AND player = ?2 ORDER BY number DESC LIMIT ?3`,
    ...[ledger, player, AIMED_COMMANDS_MAX],
  );
}

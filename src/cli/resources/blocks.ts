// gatehouse blocks: lists the keys and people that are blocked for spam, and lifts their blocks.
import type { Command } from "commander";
import type { BlockResource } from "../../core/wire/key.ts";
import { adminCommand, adminGroup, type Session, type SessionOptions, withLimit } from "../connection/session.ts";
import { failUsage } from "../exit-codes.ts";
import { type ResourceField, showMoment } from "../terminal/fields.ts";
import { askChoice } from "../terminal/prompts.ts";
import { formatMoment } from "../terminal/times.ts";
import { getId, KEYS, showTable } from "./find-resource.ts";

const FIELDS: readonly ResourceField<BlockResource>[] = [
  { name: "key", show: ({ key_id }) => key_id, isWhole: true },
  { name: "label", show: ({ label, key_id }) => label ?? key_id },
  { name: "server", show: ({ server_id }, { nameOf }) => (server_id ? nameOf(server_id) : "-") },
  { name: "ends", show: ({ blocked_until }, look) => showMoment(blocked_until, look), isWhole: true },
  { name: "blocked until", show: ({ blocked_until }) => formatMoment(blocked_until), isWhole: true },
];

export function createBlocksCommand(): Command {
  return adminGroup("blocks", "list and lift spam blocks", [
    withLimit(
      adminCommand("list", "list the keys that are blocked now", listBlocks).option(
        "--ids",
        "show the ids of the keys",
      ),
    ),
    adminCommand("lift", "lift the block of a key or a person", liftBlock).argument(
      "[key]",
      "label or id of the key, name or id of the person",
    ),
  ]);
}

async function listBlocks(session: Session, { limit, ids }: SessionOptions): Promise<void> {
  await session.list<BlockResource>({ path: ["blocks"] }, limit, "no key is blocked", (blocks) =>
    showTable(session, FIELDS, blocks, FIELDS.map(({ name }) => name).slice(ids ? 0 : 1)),
  );
}

async function liftBlock(session: Session, _: SessionOptions, given: string | undefined): Promise<void> {
  const keyId = given === undefined ? await chooseBlockedKey(session) : await findBlocked(session, given);
  const notFoundMessage = `there is no key ${keyId}: gatehouse blocks list shows the blocked ones`;
  await session.call({ method: "DELETE", path: ["blocks", keyId], notFoundMessage }, () =>
    session.printer.printLine(`${keyId} is not blocked any more`),
  );
}

/** A person has a block on each server. */
async function findBlocked(session: Session, given: string): Promise<string> {
  const { items } = await session.admin.list<BlockResource>({ path: ["blocks"] });
  const wanted = given.toLowerCase();
  const found = items.filter(
    ({ key_id: id, label }) => id === given || id.startsWith(`${given}@`) || label?.toLowerCase() === wanted,
  );
  const [first, ...others] = found;
  if (others.length > 0)
    failUsage(`${found.length} blocks are meant: use an id (${found.map(({ key_id }) => key_id).join(", ")})`);
  // One that is not blocked may be lifted too, which changes nothing.
  return first?.key_id ?? (given.includes("@") ? given : await getId(session, KEYS, given));
}

async function chooseBlockedKey(session: Session): Promise<string> {
  if (!session.canAsk) failUsage("no key: gatehouse blocks lift <key>");
  const { items } = await session.admin.list<BlockResource>({ path: ["blocks"] });
  if (items.length === 0) failUsage("no key is blocked");
  const choices = items.map(({ key_id, label }) => ({ value: key_id, label: label ?? key_id, hint: key_id }));
  return await askChoice("Which key?", choices);
}

// gatehouse blocks: lists the keys that are blocked for spam, and lifts their blocks.
import { Command } from "commander";
import type { BlockResource } from "../core/wire/block.ts";
import { failUsage } from "./exit-codes.ts";
import { getKeyId } from "./find-key.ts";
import { readServerNames } from "./find-names.ts";
import { askChoice } from "./prompts.ts";
import {
  addSessionOptions,
  callAndShow,
  listAndShow,
  openSession,
  parseLimit,
  type Session,
  type SessionOptions,
} from "./session.ts";
import type { Column } from "./table-layout.ts";
import { formatMoment, formatShortTime } from "./times.ts";

/** The id comes first, so that it can be left out. */
const COLUMNS: readonly Column[] = [
  { title: "KEY", isWhole: true },
  { title: "LABEL" },
  { title: "SERVER" },
  { title: "ENDS", isWhole: true },
  { title: "BLOCKED UNTIL", isWhole: true },
];

export function createBlocksCommand(): Command {
  const list = new Command("list")
    .description("list the keys that are blocked now")
    .option("--ids", "show the ids of the keys")
    .option("--limit <number>", "show at most this many", parseLimit)
    .action(listBlocks);
  const lift = new Command("lift")
    .description("lift the block of a key")
    .argument("[key]", "label or id of the key")
    .action(liftBlock);
  const blocks = new Command("blocks").description("list and lift spam blocks");
  for (const command of [list, lift]) blocks.addCommand(addSessionOptions(command));
  return blocks;
}

type ListOptions = SessionOptions & { readonly limit?: number; readonly ids?: boolean };

async function listBlocks(options: ListOptions): Promise<void> {
  const session = await openSession(options);
  await listAndShow<BlockResource>(session, { path: ["blocks"] }, options.limit, async ({ items }) => {
    if (items.length === 0) return session.printer.printLine("no key is blocked");
    const servers = await readServerNames(session);
    const rows = items.map((block) => [
      block.key_id,
      block.label ?? block.key_id,
      servers.get(block.server_id ?? "") ?? block.server_id ?? "-",
      formatShortTime(block.blocked_until, session.now()),
      formatMoment(block.blocked_until),
    ]);
    const start = options.ids ? 0 : 1;
    session.printer.printTable(
      COLUMNS.slice(start),
      rows.map((row) => row.slice(start)),
    );
  });
}

async function liftBlock(given: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const keyId = given === undefined ? await chooseBlockedKey(session) : await getKeyId(session, given);
  const notFoundMessage = `there is no key ${keyId}: gatehouse blocks list shows the blocked ones`;
  await callAndShow(session, { method: "DELETE", path: ["blocks", keyId], notFoundMessage }, () =>
    session.printer.printLine(`${keyId} is not blocked any more`),
  );
}

async function chooseBlockedKey(session: Session): Promise<string> {
  if (!session.canAsk) failUsage("no key: gatehouse blocks lift <key>");
  const { items } = await session.admin.list<BlockResource>({ path: ["blocks"] });
  if (items.length === 0) failUsage("no key is blocked");
  const choices = items.map(({ key_id, label }) => ({ value: key_id, label: label ?? key_id, hint: key_id }));
  return await askChoice("Which key?", choices);
}

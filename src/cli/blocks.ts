// gatehouse blocks: lists the keys that are blocked for spam, and lifts their blocks.
import { Command } from "commander";
import type { BlockResource } from "../core/wire/block.ts";
import { failUsage } from "./exit-codes.ts";
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
import { formatMoment, formatRelativeTime } from "./times.ts";

export function createBlocksCommand(): Command {
  const list = new Command("list")
    .description("list the keys that are blocked now")
    .option("--limit <number>", "show at most this many", parseLimit)
    .action(listBlocks);
  const lift = new Command("lift")
    .description("lift the block of a key")
    .argument("[key_id]", "id of the key")
    .action(liftBlock);
  const blocks = new Command("blocks").description("list and lift spam blocks");
  for (const command of [list, lift]) blocks.addCommand(addSessionOptions(command));
  return blocks;
}

async function listBlocks(options: SessionOptions & { readonly limit?: number }): Promise<void> {
  const session = await openSession(options);
  await listAndShow<BlockResource>(session, { path: ["blocks"] }, options.limit, ({ items }) => {
    if (items.length === 0) return session.printer.printLine("no key is blocked");
    session.printer.printTable(
      [
        { title: "KEY", isWhole: true },
        { title: "LABEL" },
        { title: "SERVER" },
        { title: "BLOCKED UNTIL" },
        { title: "ENDS" },
      ],
      items.map((block) => [
        block.key_id,
        block.label ?? "-",
        block.server_id ?? "-",
        formatMoment(block.blocked_until),
        formatRelativeTime(block.blocked_until, session.now()),
      ]),
    );
  });
}

async function liftBlock(given: string | undefined, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const keyId = given ?? (await chooseBlockedKey(session));
  const notFoundMessage = `there is no key ${keyId}: gatehouse blocks list shows the blocked ones`;
  await callAndShow(session, { method: "DELETE", path: ["blocks", keyId], notFoundMessage }, () =>
    session.printer.printLine(`${keyId} is not blocked any more`),
  );
}

async function chooseBlockedKey(session: Session): Promise<string> {
  if (!session.canAsk) failUsage("no key: gatehouse blocks lift <key_id>");
  const { items } = await session.admin.list<BlockResource>({ path: ["blocks"] });
  if (items.length === 0) failUsage("no key is blocked");
  const choices = items.map(({ key_id, label }) => ({ value: key_id, label: label ?? key_id, hint: key_id }));
  return await askChoice("Which key?", choices);
}

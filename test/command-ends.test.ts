// Commands that the service drops from its list are still known to the judge.
import { expect, test } from "bun:test";
import { CommandEnds } from "./command-ends.ts";

function command(count: number, status: string) {
  return { command_id: `cmd_${count}`, command: `:h c ${count}`, status };
}

test("commands are kept in order with their last status, also those that are no longer listed", async () => {
  const ends = new CommandEnds("srv_x");
  await ends.collect(async () => [command(3, "queued"), command(2, "sending"), command(1, "sent")]);
  // The oldest was dropped.
  await ends.collect(async () => [command(4, "sent"), command(3, "sent"), command(2, "unknown")]);
  expect(ends.all).toEqual([command(1, "sent"), command(2, "unknown"), command(3, "sent"), command(4, "sent")]);
});

test("only the pages since the last ended command are asked for", async () => {
  const ends = new CommandEnds("srv_x");
  await ends.collect(async () => [command(2, "queued"), command(1, "sent")]);
  await ends.collect(async (_, isEnough) => {
    expect(isEnough([command(3, "queued"), command(2, "sent")])).toBe(false);
    expect(isEnough([command(2, "sent"), command(1, "sent")])).toBe(true);
    return [];
  });
});

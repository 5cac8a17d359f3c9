// gatehouse players: takes a player out of everything that Gatehouse remembers.
import type { Command } from "commander";
import { adminCommand, adminGroup, type Session, type SessionOptions, withYes } from "../connection/session.ts";
import { failUsage } from "../exit-codes.ts";

export function createPlayersCommand(): Command {
  const description = "take a player out of the events of all servers, for good";
  return adminGroup("players", "forget a player", [
    withYes(adminCommand("forget", description, forgetPlayer, checkId))
      .argument("<id>", "the number after the colon in Name:id")
      .addHelpText("after", "\nBackups that were made before still have the player. The events themselves stay."),
  ]);
}

function checkId(_: SessionOptions, id: string): void {
  if (!/^[0-9]+$/.test(id)) failUsage("the id of a player has digits only: it is the number after the colon");
}

async function forgetPlayer(session: Session, { yes }: SessionOptions, id: string): Promise<void> {
  const consequence = "The name and the id disappear from all events and commands of all servers.";
  await session.confirm(yes, () => `Forget player ${id}? ${consequence}`);
  await session.call({ method: "DELETE", path: ["players", id] }, () =>
    session.printer.printLine(`player ${id} is forgotten; backups that were made before still have the player`),
  );
}

// gatehouse players: takes a player out of everything that Gatehouse remembers.
import { Command } from "commander";
import { failUsage } from "./exit-codes.ts";
import {
  addSessionOptions,
  callAndShow,
  confirmOrFail,
  openSession,
  type SessionOptions,
} from "./session.ts";

export function createPlayersCommand(): Command {
  const forget = new Command("forget")
    .description("take a player out of the events of all servers, for good")
    .argument("<id>", "the number after the colon in Name:id")
    .option("--yes", "do not ask for confirmation")
    .addHelpText(
      "after",
      "\nBackups that were made before still have the player. The events themselves stay.",
    )
    .action(forgetPlayer);
  return new Command("players").description("forget a player").addCommand(addSessionOptions(forget));
}

type ForgetOptions = SessionOptions & { readonly yes?: boolean };

async function forgetPlayer(id: string, options: ForgetOptions): Promise<void> {
  if (!/^[0-9]+$/.test(id)) failUsage("the id of a player has digits only: it is the number after the colon");
  const session = await openSession(options);
  await confirmOrFail(session, options.yes, async () => {
    return `Forget player ${id}? The name and the id disappear from all events and commands of all servers.`;
  });
  await callAndShow(session, { method: "DELETE", path: ["players", id] }, () =>
    session.printer.printLine(
      `player ${id} is forgotten; backups that were made before still have the player`,
    ),
  );
}

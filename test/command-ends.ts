// The commands of one server and how they ended, collected while the service runs.
import { type CommandBody, hasEnded } from "./command-judge.ts";

/** Lists the commands of a server, newest first, until a page is enough. */
export type ListCommands = (
  serverId: string,
  isEnough: (page: readonly CommandBody[]) => boolean,
) => Promise<CommandBody[]>;

/** Collects, because the service keeps only the last 10,000 commands that have ended. */
export class CommandEnds {
  readonly #serverId: string;
  /** By id, oldest first; those that had not ended are at the end. */
  readonly #commands = new Map<string, CommandBody>();

  constructor(serverId: string) {
    this.#serverId = serverId;
  }

  get all(): readonly CommandBody[] {
    return [...this.#commands.values()];
  }

  async collect(list: ListCommands): Promise<void> {
    const isKnown = ({ command_id }: CommandBody) => hasEnded(this.#commands.get(command_id));
    const newest = await list(this.#serverId, (page) => page.some(isKnown));
    for (const command of newest.reverse()) if (!isKnown(command)) this.#commands.set(command.command_id, command);
  }
}

// The commands of one server and how they ended, collected while the service runs.
import { type CommandBody, hasEnded } from "../command-judge.ts";
import type { Service } from "./killed-service.ts";

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

  async collect(service: Service): Promise<void> {
    const isKnown = ({ command_id }: CommandBody) => hasEnded(this.#commands.get(command_id));
    const newest = await service.list(this.#serverId, (page) => page.some(isKnown));
    for (const command of newest.reverse())
      if (!isKnown(command)) this.#commands.set(command.command_id, command);
  }
}

// Compares, for one server, the accepted commands, their ends in the service, and the commands that the game received.
import type { CommandBody, Service } from "./killed-service.ts";

export type Promised = { readonly commandId: string; readonly text: string };

const ENDED = ["sent", "failed", "unknown"];
/** The game does not know it, so it must end as `failed`. */
export const NONSENSE = ":nonsense";

/** The commands of one server, collected while the service runs: it keeps only the last 10,000 that have ended. */
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

function hasEnded(command: CommandBody | undefined): boolean {
  return command !== undefined && ENDED.includes(command.status);
}

/** `got`: the texts that the game received, in order. `kills`: how often a command may have become unknown. */
export function findCommandFaults(
  commands: readonly CommandBody[],
  promised: readonly Promised[],
  got: readonly string[],
  kills: number,
): string[] {
  const faults: string[] = [];
  const byId = new Map(commands.map((command) => [command.command_id, command]));
  const timesGot = new Map<string, number>();
  for (const text of got) timesGot.set(text, (timesGot.get(text) ?? 0) + 1);

  for (const { commandId, text } of promised) {
    const command = byId.get(commandId);
    if (!command) faults.push(`${text} was accepted and is gone`);
    else if (command.command !== text) faults.push(`${text} became ${command.command}`);
  }
  for (const command of commands) {
    const { command: text, status } = command;
    const times = timesGot.get(text) ?? 0;
    if (!hasEnded(command)) faults.push(`${text} is still ${status}`);
    if (times > 1) faults.push(`${text} was delivered ${times} times`);
    if (times === 0 && status !== "unknown") faults.push(`${text} is ${status} and never arrived`);
    if (status !== "unknown" && text.startsWith(NONSENSE) !== (status === "failed"))
      faults.push(`${text} is ${status}`);
  }
  const texts = commands.map(({ command }) => command);
  if (new Set(texts).size !== texts.length) faults.push("one text is there twice");
  const places = new Map(texts.map((text, index) => [text, index]));
  let last = -1;
  for (const text of got) {
    const place = places.get(text);
    if (place === undefined) faults.push(`${text} arrived and was never accepted`);
    else if (place < last) faults.push(`${text} arrived out of order`);
    else last = place;
  }
  // Each client waits for one acceptance before its next command.
  const latest = new Map<string, number>();
  for (const text of texts) {
    const [, client = "", count = "0"] = text.split(" ");
    if (Number(count) <= (latest.get(client) ?? 0)) faults.push(`${text} was accepted out of order`);
    latest.set(client, Number(count));
  }
  const unknown = commands.filter(({ status }) => status === "unknown").length;
  if (unknown > kills) faults.push(`${unknown} are unknown after ${kills} kills`);
  return faults;
}

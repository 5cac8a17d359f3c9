// Compares, for one server, the accepted commands, their ends in the service, and the commands that the game received.
import type { Simulator } from "../src/simulator/simulator.ts";

/** A command as the admin API lists it. */
export type CommandBody = { readonly command_id: string; readonly command: string; readonly status: string };
export type Promised = { readonly commandId: string; readonly text: string };

const ENDED = ["sent", "failed", "unknown"];
const COLLECT_EVERY_MS = 100;
/** The game does not know it, so it must end as `failed`. */
export const NONSENSE = ":nonsense";

export function hasEnded(command: CommandBody | undefined): boolean {
  return command !== undefined && ENDED.includes(command.status);
}

export type Judged = {
  /** Oldest first. */
  readonly commands: readonly CommandBody[];
  readonly promised: readonly Promised[];
  /** The texts that the game received, in order. */
  readonly got: readonly string[];
  readonly unknownMax: number;
  /** An instance that was frozen while sending sends late, after the others have gone on (decision 10). */
  readonly mayUnknownBeLate?: boolean;
};

export function findCommandFaults({ commands, promised, got, unknownMax, mayUnknownBeLate = false }: Judged): string[] {
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
  const places = new Map(commands.map(({ command, status }, place) => [command, { place, status }]));
  let last = -1;
  for (const text of got) {
    const found = places.get(text);
    if (found === undefined) faults.push(`${text} arrived and was never accepted`);
    else if (mayUnknownBeLate && found.status === "unknown") continue;
    else if (found.place < last) faults.push(`${text} is ${found.status} and arrived out of order`);
    else last = found.place;
  }
  // Each client waits for one acceptance before its next command.
  const latest = new Map<string, number>();
  for (const text of texts) {
    const [, client = "", count = "0"] = text.split(" ");
    if (Number(count) <= (latest.get(client) ?? 0)) faults.push(`${text} was accepted out of order`);
    latest.set(client, Number(count));
  }
  const unknown = commands.filter(({ status }) => status === "unknown").length;
  if (unknown > unknownMax) faults.push(`${unknown} are unknown, more than ${unknownMax}`);
  return faults;
}

/** The simulator keeps only its last calls, so its commands are fetched regularly. */
export function recordCommands(simulator: Simulator) {
  const commands: { readonly server: string; readonly command: string }[] = [];
  let { next } = simulator.calls();
  let isMissing = false;
  const collect = () => {
    const found = simulator.calls(next);
    if (found.calls.length > 0 && found.calls[0]?.index !== next) isMissing = true;
    next = found.next;
    for (const { kind, server, command = "" } of found.calls) {
      if (kind === "command") commands.push({ server, command });
    }
  };
  const timer = setInterval(collect, COLLECT_EVERY_MS);
  return {
    /** How many different commands the game got. */
    countTexts(): number {
      collect();
      return new Set(commands.map(({ command }) => command)).size;
    },
    stop() {
      clearInterval(timer);
      collect();
      if (isMissing) throw new Error("the simulator has dropped calls that were not looked at");
      return commands;
    },
  };
}

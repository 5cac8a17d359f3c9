// Finds the address of a store for `gatehouse migrate`: an option, a file, standard input, or GATEHOUSE_STORE. An address with
// a password is refused as an argument, because other users of the machine can read arguments.
import { readFileSync } from "node:fs";
import { findFaultWords } from "../core/system-faults.ts";
import { failUsage } from "./exit-codes.ts";
import { readInputLine } from "./input-lines.ts";

export type GivenStore = {
  /** The option's name, such as "--to". */
  readonly option: string;
  readonly argument: string | undefined;
  readonly file: string | undefined;
};

/** Undefined when neither the option nor the file is given. */
export function findStore({ option, argument, file }: GivenStore): string | undefined {
  if (argument !== undefined && file !== undefined) failUsage(`give ${option} or ${option}-file, not both`);
  if (file !== undefined) return readAddressFile(file, option);
  if (argument === "-")
    return readInputLine() || failUsage(`${option} - reads standard input, which is empty`);
  if (argument !== undefined && hasPassword(argument)) {
    failUsage(
      `${option} has a password, which other users of this machine can read in the list of processes: ` +
        `put the address into a file (${option}-file), standard input (${option} -) or GATEHOUSE_STORE, and change the password`,
    );
  }
  return argument;
}

function hasPassword(address: string): boolean {
  return /:\/\/[^@]*:[^@]*@/.test(address);
}

function readAddressFile(path: string, option: string): string {
  try {
    return readFileSync(path, "utf8").trim() || failUsage(`${path} (${option}-file) is empty`);
  } catch (error) {
    const words = findFaultWords(error);
    if (words === undefined) throw error;
    return failUsage(`${path} (${option}-file) cannot be read: ${words}`);
  }
}

// The labels of the keys that sent commands, for people who ask who did it.
import type { Command } from "../../core/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { KeyStore } from "../../core/ports/keys.ts";

/** By key id. Empty when the store cannot be read: a missing label must not hide what became of a command. */
export async function readSenderLabels(
  keys: Pick<KeyStore, "listLabels">,
  commands: readonly Command[],
): Promise<ReadonlyMap<string, string>> {
  if (commands.length === 0) return new Map();
  try {
    return await keys.listLabels([...new Set(commands.map(({ keyId }) => keyId))]);
  } catch (error) {
    if (error instanceof StoreUnavailable) return new Map();
    throw error;
  }
}

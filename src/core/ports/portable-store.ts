// A store whose content can be migrated to another store.
import type { GameServer } from "../game-server.ts";
import type { CommandDraft } from "./commands.ts";
import type { DeviceDetails } from "./devices.ts";
import type { KeyDetails } from "./keys.ts";
import type { Block } from "./limits.ts";
import type { Store } from "./store.ts";

/** `validUntil` is null for the current token, and the end of the grace period for one that was replaced. */
export type KeptToken = { readonly tokenHash: string; readonly validUntil: number | null };

/** A signed-in device of a key. */
export type KeptDevice = DeviceDetails & { readonly secretHash: string };

export type WaitingCommand = CommandDraft & { readonly commandId: string; readonly queuedAt: number };

/** One item to migrate. Usage, audit entries, open links and finished commands are not migrated. */
export type PortableItem =
  | { readonly kind: "server"; readonly server: GameServer; readonly serverKey: string }
  | {
      readonly kind: "key";
      readonly key: KeyDetails;
      readonly tokens: readonly KeptToken[];
      /** Sorted by their ids. */
      readonly devices: readonly KeptDevice[];
    }
  | { readonly kind: "block"; readonly block: Block }
  | { readonly kind: "command"; readonly command: WaitingCommand };

export interface PortableStore extends Store {
  /** Servers first, then their keys, blocks and waiting commands, each oldest first. */
  readItems(): AsyncIterable<PortableItem>;
  /** Writes items into an empty store and keeps their ids. A server must be written before its keys and commands. */
  writeItems(items: readonly PortableItem[]): Promise<void>;
  /** How many servers and keys the store holds and ignores, because somebody else may have written them. */
  countIgnored(): number;
  /** How many other instances use the store now. */
  countOtherInstances(): Promise<number>;
}

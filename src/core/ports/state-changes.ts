// When a server went online, offline or unreachable, by its ledger.
import type { ServerState } from "../events/memory.ts";

export type StateChange = { readonly state: ServerState; readonly at: number };

export interface StateChangeLog {
  /** The newest changes of the server's state that are kept, newest first. Reads an index, however long the ledger is. */
  listStateChanges(serverId: string, limit: number): Promise<readonly StateChange[]>;
}

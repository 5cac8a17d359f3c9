// Command ids: `cmd_`, the part of the server's id after `srv_`, and 20 random base62 characters. The server's id in it
// leads to the cluster node that holds the command. For API clients the id is opaque.
import { randomBytes } from "node:crypto";
import { randomBase62 } from "../core/token.ts";

const RANDOM_LENGTH = 20;
const SERVER_SHAPE = /^srv_([0-9A-Za-z_]{1,56})$/;
const SHAPE = /^cmd_([0-9A-Za-z_]{1,56})[0-9A-Za-z]{20}$/;

export function newCommandId(serverId: string): string {
  const match = SERVER_SHAPE.exec(serverId);
  if (!match) throw new Error(`${serverId} is not the id of a server`);
  return `cmd_${match[1]}${randomBase62(RANDOM_LENGTH, randomBytes)}`;
}

/** The server's id; undefined when this is no command id. */
export function findServerOf(commandId: string): string | undefined {
  const match = SHAPE.exec(commandId);
  return match ? `srv_${match[1]}` : undefined;
}

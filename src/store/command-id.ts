// A command's id tells its server, so that a command is found wherever its server's part of a cluster is. To everybody else
// it is one opaque word: `cmd_`, what follows `srv_` in the server's id, 20 random base62 characters.
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

/** Undefined for what is no id of ours. */
export function findServerOf(commandId: string): string | undefined {
  const match = SHAPE.exec(commandId);
  return match ? `srv_${match[1]}` : undefined;
}

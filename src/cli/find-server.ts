// Finds the server that a command is about: by its id, by its name, or by the choice of the person at the terminal.
import type { ServerResource } from "../core/wire/server.ts";
import { CommandFailed, EXIT_CODES, failUsage } from "./exit-codes.ts";
import { askChoice } from "./prompts.ts";
import { escapeUnsafe } from "./safe-text.ts";
import type { Session } from "./session.ts";

/** `howToName` ends the error message "no server: …" when the user cannot be asked. */
export async function obtainServerId(
  session: Session,
  reference: string | undefined,
  howToName: string,
): Promise<string> {
  if (reference !== undefined) return await getServerId(session, reference);
  if (!session.canAsk) failUsage(`no server: ${howToName}`);
  const { items } = await session.admin.list<ServerResource>({ path: ["servers"] });
  if (items.length === 0) failUsage("there is no server yet: add one with gatehouse servers add");
  const choices = items.map(({ server_id, name }) => ({ value: server_id, label: name, hint: server_id }));
  return await askChoice("Which server?", choices);
}

/** For commands with --server: the only server needs no name. */
export async function obtainServerIdOrOnly(session: Session, reference: string | undefined): Promise<string> {
  if (reference === undefined) {
    const { items } = await session.admin.list<ServerResource>({ path: ["servers"] }, 2);
    const [only, ...others] = items;
    if (only && others.length === 0) return only.server_id;
  }
  return obtainServerId(session, reference, "name one with --server");
}

export async function getServerId(session: Session, reference: string): Promise<string> {
  if (/^srv_\w+$/.test(reference)) return reference;
  const { items } = await session.admin.list<ServerResource>({ path: ["servers"] });
  const [first, ...others] = items.filter(({ name }) => name === reference);
  const shown = `"${escapeUnsafe(reference)}"`;
  if (!first) {
    throw new CommandFailed(
      `there is no server ${shown}: gatehouse servers list shows them`,
      EXIT_CODES.notFound,
    );
  }
  if (others.length > 0) {
    const ids = [first, ...others].map(({ server_id }) => escapeUnsafe(server_id));
    failUsage(`${ids.length} servers have the name ${shown}: use an id (${ids.slice(0, 5).join(", ")})`);
  }
  return first.server_id;
}

// Finds the key that a command is about: by its id, by its label, or by the choice of the person at the terminal.
import type { KeyResource } from "../core/wire/key.ts";
import { CommandFailed, EXIT_CODES, failUsage } from "./exit-codes.ts";
import { readServerNames } from "./find-names.ts";
import { askChoice } from "./prompts.ts";
import { escapeUnsafe } from "./safe-text.ts";
import type { Session } from "./session.ts";

/** The most keys in a prompt; other keys must be named. */
const CHOICES_MAX = 1_000;
const SHOWN_MAX = 5;

/** `command` completes the error message when no key is given and the user cannot be asked. */
export async function obtainKeyId(
  session: Session,
  given: string | undefined,
  command: string,
): Promise<string> {
  if (given !== undefined) return await getKeyId(session, given);
  if (!session.canAsk) failUsage(`no key: gatehouse ${command} <key>`);
  const { items } = await session.admin.list<KeyResource>({ path: ["keys"] }, CHOICES_MAX, isNotRevoked);
  const choices = items.map((key) => ({ value: key.key_id, label: key.label, hint: key.key_id }));
  if (choices.length === 0) failUsage("there is no key yet: gatehouse keys create makes one");
  return await askChoice("Which key?", choices);
}

/** By id, or by the whole label. Of keys with the same label, one that is not revoked is meant. */
export async function getKeyId(session: Session, reference: string): Promise<string> {
  if (/^key_[0-9A-Za-z]+$/.test(reference)) return reference;
  const { items } = await session.admin.list<KeyResource>({ path: ["keys"], query: { label: reference } });
  const wanted = reference.toLowerCase();
  const namesakes = items.filter(({ label }) => label.toLowerCase() === wanted);
  const alive = namesakes.filter(isNotRevoked);
  const found = alive.length > 0 ? alive : namesakes;
  const [first, ...others] = found;
  const shown = `"${escapeUnsafe(reference)}"`;
  if (!first) {
    const similar = await describeKeys(session, items.filter(isNotRevoked));
    const hint = similar === "" ? "gatehouse keys list shows them" : `did you mean ${similar}?`;
    throw new CommandFailed(`there is no key ${shown}: ${hint}`, EXIT_CODES.notFound);
  }
  if (others.length > 0) {
    failUsage(
      `${found.length} keys have the label ${shown}: use an id, ${await describeKeys(session, found)}`,
    );
  }
  return first.key_id;
}

export function isNotRevoked(key: KeyResource): boolean {
  return key.revoked_at === null;
}

/** "key_… (My bot, North Town, active)", with commas between them, at most five. */
async function describeKeys(session: Session, keys: readonly KeyResource[]): Promise<string> {
  if (keys.length === 0) return "";
  const servers = await readServerNames(session);
  const texts = keys.slice(0, SHOWN_MAX).map(({ key_id, label, server_id, state }) => {
    return escapeUnsafe(`${key_id} (${label}, ${servers.get(server_id) ?? server_id}, ${state})`);
  });
  return texts.join(", ") + (keys.length > SHOWN_MAX ? ", …" : "");
}

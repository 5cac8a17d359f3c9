// Finds the webhook that a command is about: by its id, by its label, or by the choice of the person at the terminal.
import type { WebhookResource } from "../core/wire/webhook.ts";
import { CommandFailed, EXIT_CODES, failUsage } from "./exit-codes.ts";
import { askChoice } from "./prompts.ts";
import { escapeUnsafe } from "./safe-text.ts";
import type { Session } from "./session.ts";

const SHOWN_MAX = 5;

/** `command` completes the error message when no webhook is given and the user cannot be asked. */
export async function obtainWebhookId(
  session: Session,
  reference: string | undefined,
  command: string,
): Promise<string> {
  if (reference !== undefined) return await getWebhookId(session, reference);
  if (!session.canAsk) failUsage(`no webhook: gatehouse webhooks ${command} <webhook>`);
  const { items } = await listWebhooks(session);
  if (items.length === 0) failUsage("there is no webhook yet: gatehouse webhooks create makes one");
  const choices = items.map(({ webhook_id, label }) => ({
    value: webhook_id,
    label,
    hint: webhook_id,
  }));
  return await askChoice("Which webhook?", choices);
}

async function getWebhookId(session: Session, reference: string): Promise<string> {
  if (/^hook_[0-9A-Za-z]+$/.test(reference)) return reference;
  const { items } = await listWebhooks(session);
  const [first, ...others] = items.filter(({ label }) => label === reference);
  const shown = `"${escapeUnsafe(reference)}"`;
  if (!first) {
    throw new CommandFailed(
      `there is no webhook ${shown}: gatehouse webhooks list shows them`,
      EXIT_CODES.notFound,
    );
  }
  if (others.length > 0) {
    const ids = [first, ...others].map(({ webhook_id }) => escapeUnsafe(webhook_id));
    failUsage(
      `${ids.length} webhooks have the label ${shown}: use an id (${ids.slice(0, SHOWN_MAX).join(", ")})`,
    );
  }
  return first.webhook_id;
}

function listWebhooks(session: Session) {
  return session.admin.list<WebhookResource>({ path: ["webhooks"] });
}

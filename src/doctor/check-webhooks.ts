// The webhooks: whether their addresses and secrets can be decrypted with our secret, and which were disabled for a fault.
import { quoteArgument } from "../core/notices.ts";
import type { WebhookSealer } from "../core/ports/webhooks.ts";
import type { SealedWebhook } from "../database/archive/inspect-archive.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok, skip, warn } = reportAs("webhooks");
/** More are not named. */
const NAMED_MAX = 5;

/** `sealer` is undefined when there is no secret. */
export function judgeWebhooks(webhooks: readonly SealedWebhook[], sealer: WebhookSealer | undefined): Finding[] {
  if (webhooks.length === 0) return [];
  if (!sealer) return skip("Not checked: there is no secret to decrypt them with.");
  const unreadable = webhooks.filter((webhook) => !canOpen(webhook, sealer));
  const disabled = webhooks.filter(({ disabled_reason }) => disabled_reason !== null);
  const findings: Finding[] = [];
  if (unreadable.length > 0) {
    findings.push(
      ...fail(
        `${unreadable.length} of ${webhooks.length} were encrypted with another secret and cannot be delivered: ${listNames(unreadable)}.`,
        "Put back the secret.key (or GATEHOUSE_SECRET) that belongs to this archive, or give these webhooks their address again (gatehouse webhooks change --new-url) and those of the format standard a new secret (gatehouse webhooks rotate).",
      ),
    );
  }
  if (disabled.length > 0) {
    findings.push(
      ...warn(
        `${disabled.length} of ${webhooks.length} ${disabled.length === 1 ? "was" : "were"} disabled because of failures: ${listNames(disabled)}.`,
        `Correct the receiver; they go on where they were, after: ${disabled
          .slice(0, NAMED_MAX)
          .map(({ label }) => `gatehouse webhooks change ${quoteArgument(label)} --enabled on`)
          .join("; ")}`,
      ),
    );
  }
  if (findings.length > 0) return findings;
  return ok(`All webhooks can be decrypted: ${webhooks.length}.`);
}

function canOpen(webhook: SealedWebhook, sealer: WebhookSealer): boolean {
  const { webhook_id, sealed_url, sealed_secret, sealed_old_secret } = webhook;
  try {
    sealer.open(sealed_url, webhook_id, "url");
    for (const secret of [sealed_secret, sealed_old_secret])
      if (secret !== null) sealer.open(secret, webhook_id, "secret");
    return true;
  } catch {
    return false;
  }
}

function listNames(webhooks: readonly SealedWebhook[]): string {
  const named = webhooks.slice(0, NAMED_MAX).map(({ label, webhook_id }) => `${label} (${webhook_id})`);
  const rest = webhooks.length - named.length;
  return rest > 0 ? `${named.join(", ")} and ${rest} more` : named.join(", ");
}

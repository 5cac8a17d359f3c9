// A webhook: a reader of one server's ledger to which events are sent, with its place and what became of the last attempts.
import type { LedgerPosition } from "../events/cursor.ts";
import { describeTypesFault, type EventFilter, filterAll, parseTypes } from "../events/event-types.ts";
import { ALL_SECTIONS } from "../sections.ts";

/** `discord-status` is one message that is edited; it has no place in the ledger. */
export const WEBHOOK_FORMATS = ["standard", "discord", "discord-status"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export const WEBHOOK_LANGUAGES = ["en", "ru"] as const;
export type WebhookLanguage = (typeof WEBHOOK_LANGUAGES)[number];

export const WEBHOOKS_PER_SERVER_MAX = 20;
export const WEBHOOK_URL_LENGTH_MAX = 2_048;
/** How many deliveries are kept of each webhook. */
export const DELIVERIES_MAX = 100;
/** `waiting` is counted up to here. */
export const WAITING_MAX = 10_000;

/** Why Gatehouse disables a webhook. */
export const DISABLED_REASONS = {
  gone: "The receiver answered 410: it does not want this webhook any more.",
  unknown_webhook: "Discord does not know this webhook: it was deleted there.",
  invalid_token: "Discord refused the token in the webhook's url.",
  exhausted: "No delivery has succeeded for five days.",
  lost_message: "The status message was deleted twice within an hour.",
} as const;
export type DisabledCode = keyof typeof DISABLED_REASONS;

/** `stored` is what WebhookProgress has. */
export function describeDisabled(stored: string | null): {
  disabled_reason: string | null;
  disabled_code: string | null;
} {
  const code = stored !== null && Object.hasOwn(DISABLED_REASONS, stored) ? (stored as DisabledCode) : null;
  return { disabled_reason: code === null ? stored : DISABLED_REASONS[code], disabled_code: code };
}

/** What the operator sets. */
export type WebhookSettings = {
  readonly label: string;
  readonly format: WebhookFormat;
  /** Types and wildcards as they were given; null for all. */
  readonly types: readonly string[] | null;
  readonly language: WebhookLanguage;
  readonly showJoinKey: boolean;
  readonly isEnabled: boolean;
  /** The address, encrypted. */
  readonly sealedUrl: string;
  /** The address up to its host and first path segment. */
  readonly shownUrl: string;
};

/** Where a webhook stands, which every attempt may change. */
export type WebhookProgress = {
  /** The last event that is done. */
  readonly place: LedgerPosition;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  /** The first failure since the last success. */
  readonly firstFailureAt: number | null;
  /** Failures since the last success; the schedule of retries depends on it. */
  readonly failures: number;
  /** How often the event after the place was refused with a 4xx. */
  readonly refusals: number;
  /** Not before; null for at once. */
  readonly nextAttemptAt: number | null;
  /** A DisabledCode, or a sentence of an older Gatehouse; null while enabled or when the operator disabled it. */
  readonly disabledReason: string | null;
  /** The message of `discord-status`. */
  readonly message: StatusMessage | null;
};

/** `fingerprint` tells whether something has changed since the last edit. `lostAt`: when the message was last found deleted. */
export type StatusMessage = {
  readonly messageId: string | null;
  readonly editedAt: number;
  readonly fingerprint: string;
  readonly lostAt: number | null;
};

/** The secrets that sign, encrypted. During a rotation the old one signs too. */
export type WebhookSecrets = {
  readonly sealedSecret: string;
  readonly sealedOldSecret: string | null;
  readonly oldSecretUntil: number | null;
};

export type Webhook = WebhookSettings &
  WebhookProgress &
  WebhookSecrets & { readonly webhookId: string; readonly serverId: string; readonly createdAt: number };

/** One attempt that is kept for the operator. `status` is null when no answer came. */
export type Delivery = {
  readonly at: number;
  readonly eventIds: readonly string[];
  readonly status: number | null;
  readonly durationMs: number;
  /** What went wrong, in a word or two of ours; null after a success. */
  readonly error: string | null;
  /** What the receiver said, cleaned, at most 200 characters, encrypted: it may repeat what it was sent. Null without one. */
  readonly sealedAnswer: string | null;
};

/** What is wrong with the list; undefined when nothing is. */
export function findTypesProblem(types: readonly string[]): string | undefined {
  // Joined below, a name with a comma would be two.
  if (types.some((name) => name.includes(","))) return describeTypesFault({ reason: "unknown", name: "" });
  const parsed = parseTypes(types.join(","), ALL_SECTIONS);
  return "fault" in parsed ? describeTypesFault(parsed.fault) : undefined;
}

/** `types` is null for all. They were checked when they were set. */
export function filterOfTypes(types: readonly string[] | null): EventFilter {
  const parsed = types && parseTypes(types.join(","), ALL_SECTIONS);
  // A list that a later version does not know any more hides nothing.
  return parsed && "filter" in parsed ? parsed.filter : filterAll();
}

/** Whether somebody hears of alerts by it: its types are none of the status message. */
export function tellsAlerts(webhook: {
  readonly enabled: boolean;
  readonly format: WebhookFormat;
  readonly types: readonly string[] | null;
}): boolean {
  const { enabled, format, types } = webhook;
  const isChosen = types === null || types.includes("alert.*") || types.includes("alert.raised");
  return enabled && format !== "discord-status" && isChosen;
}

// What the page says about a webhook: how it is doing, and the reasons and errors of the admin API that it can translate.
import type { PostError } from "../../../core/ports/post.ts";
import type { WebhookResource } from "../../../core/wire/webhook.ts";
import type { operatorWebhooks as texts } from "../../locales/en/operator-webhooks.ts";

/** `off`: disabled by the operator; `disabled`: by Gatehouse, because of the receiver. */
export type WebhookState = keyof typeof texts.state;

export const STATE_COLOURS: Readonly<Record<WebhookState, string>> = {
  new: "blue",
  delivering: "teal",
  waiting: "blue",
  failing: "orange",
  off: "gray",
  disabled: "red",
};

type Standing = Pick<
  WebhookResource,
  "enabled" | "disabled_reason" | "last_success_at" | "last_failure_at" | "waiting" | "format"
>;

export function judgeWebhook(webhook: Standing): WebhookState {
  const { last_success_at: successAt, last_failure_at: failureAt, waiting } = webhook;
  if (!webhook.enabled) return webhook.disabled_reason === null ? "off" : "disabled";
  const hasFailed = failureAt !== null && failureAt > (successAt ?? 0);
  // A refused event that was set aside waits no more, and there is nothing to try again.
  if (hasFailed && (waiting > 0 || webhook.format === "discord-status")) return "failing";
  if (waiting > 0) return "waiting";
  return successAt === null ? "new" : "delivering";
}

type ReasonName = keyof typeof texts.reason;

const REASONS: readonly (readonly [RegExp, ReasonName])[] = [
  [/^The receiver answered 410:/, "gone"],
  [/^Discord does not know this webhook:/, "unknownWebhook"],
  [/^Discord refused the token /, "invalidToken"],
  [/^No delivery has succeeded for five days\./, "exhausted"],
  [/^The status message was deleted twice /, "lostMessage"],
];

/** Recognises why a webhook was disabled; an unknown reason is shown in English. */
export function findDisabledReason(reason: string): ReasonName | undefined {
  return REASONS.find(([shape]) => shape.test(reason))?.[1];
}

type AddressProblem = keyof typeof texts.address;

const ADDRESS_PROBLEMS: readonly (readonly [RegExp, AddressProblem])[] = [
  [/^must have at most /, "long"],
  [/^must be an https:\/\/ address of at most /, "longOrEmpty"],
  [/^must have no spaces /, "spaces"],
  [/^must have no user /, "user"],
  [/^must have a valid host name/, "host"],
  [/^must not be a private address/, "private"],
  [/^must be an https:\/\/ address/, "https"],
];

/** Recognises why an address was refused. */
export function findAddressProblem(reason: string): AddressProblem | undefined {
  return ADDRESS_PROBLEMS.find(([shape]) => shape.test(reason))?.[1];
}

/** Whether a server was refused because it has as many webhooks as it may. */
export function isFull(reason: string | undefined): boolean {
  return reason?.startsWith("has ") === true && reason.includes("webhooks already");
}

type ErrorName = PostError | "unreadable_url" | "no_message_id";

/** Every error that Gatehouse itself gives. */
const ERROR_NAMES: Readonly<Record<ErrorName, ErrorName>> = {
  private_address: "private_address",
  not_https: "not_https",
  dns: "dns",
  connection: "connection",
  tls: "tls",
  timeout: "timeout",
  protocol: "protocol",
  stopped: "stopped",
  unreadable_url: "unreadable_url",
  no_message_id: "no_message_id",
};

/** The name of an error of ours; undefined for what the receiver said. */
export function findErrorName(error: string): keyof typeof texts.error | undefined {
  // An answer without a text. Its status is shown beside it.
  if (/^status 3\d\d$/.test(error)) return "redirect";
  if (/^status \d{3}$/.test(error)) return "wordless";
  return Object.values(ERROR_NAMES).find((name) => name === error);
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299;
}

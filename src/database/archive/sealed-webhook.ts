// What doctor reads of a webhook: whether it can be opened, and whether it was disabled.

/** `disabled_reason` is null while it is enabled, or when the operator disabled it. */
export type SealedWebhook = {
  readonly webhook_id: string;
  readonly label: string;
  readonly sealed_url: string;
  readonly sealed_secret: string;
  readonly sealed_old_secret: string | null;
  readonly disabled_reason: string | null;
};

export const SEALED_COLUMNS =
  "webhook_id, label, sealed_url, sealed_secret, sealed_old_secret, disabled_reason";

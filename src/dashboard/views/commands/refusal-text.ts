// Explains to the sender why Gatehouse refused a command, and whether a retry can help.
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { ApiError } from "../../api/request.ts";

const EXPLAINED_CODES = [
  ERRORS.missingCommand.code,
  ERRORS.forbidden.code,
  ERRORS.versionForbidden.code,
  ERRORS.queueFull.code,
  ERRORS.rateLimited.code,
  ERRORS.spamBlocked.code,
  ERRORS.invalidRequest.code,
  ERRORS.idempotencyMismatch.code,
  ERRORS.unavailable.code,
] as const;

export function useRefusalText(error: ApiError | undefined): string {
  const { t } = useTranslation("commands");
  if (!error) return "";
  const { code, message, details } = error;
  const known = EXPLAINED_CODES.find((other) => other === code);
  if (known === undefined) return t("refusal.other", { message, code });
  const reason = Object.values(details ?? {}).join("; ") || message;
  return `${t(`refusal.${known}`, { reason })} (${code})`;
}

/** Whether Gatehouse may accept the same command later. */
export function isTemporary(error: ApiError | undefined): boolean {
  const code = error?.code;
  return (
    code === ERRORS.queueFull.code ||
    code === ERRORS.rateLimited.code ||
    code === ERRORS.spamBlocked.code ||
    code === ERRORS.unavailable.code
  );
}

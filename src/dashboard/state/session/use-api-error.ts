// Errors of the API in hooks: how they pass through TanStack Query, and how they end the session.
import { useEffect } from "react";
import type { ApiError, Outcome } from "../../api/request.ts";
import { endsSession, useSession } from "./session.ts";

/** Carries an `ApiError` through TanStack Query, which needs an exception. Views get the `ApiError`. */
class ThrownApiError extends Error {
  constructor(readonly error: ApiError) {
    super(error.message);
  }
}

export async function unwrap<T>(pending: Promise<Outcome<T>>): Promise<T> {
  const outcome = await pending;
  if (!outcome.ok) throw new ThrownApiError(outcome.error);
  return outcome.value;
}

/** Takes the `ApiError` out of what `unwrap` has thrown, and signs out when the key no longer works. */
export function useThrownError(thrown: unknown): ApiError | undefined {
  const error = thrown instanceof ThrownApiError ? thrown.error : undefined;
  useSessionEnd(error);
  return error;
}

/** Signs out when the error says that the key no longer works. */
export function useSessionEnd(error: ApiError | undefined): void {
  const { signOut } = useSession();
  useEffect(() => {
    if (error && endsSession(error)) signOut(error);
  }, [error, signOut]);
}

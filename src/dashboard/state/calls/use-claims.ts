// Claims of calls for a moderator: who may, whose they are, and how they are changed. Everybody who looks sees it.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import type { ModCallResource } from "../../../core/wire/players.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { type CallerSession, useServerSession } from "../session/session.ts";
import { type CallsAnswer, MOD_CALLS_KEY } from "./use-mod-calls.tsx";

type Claimer = NonNullable<ModCallResource["claimed_by"]>;

/** Whose a call is for this user. */
export type Claim =
  | { readonly kind: "free" | "mine" }
  | { readonly kind: "others"; readonly name: string; readonly mayRelease: boolean };

export type Claims = {
  readonly claimOf: (call: ModCallResource) => Claim;
  /** The ids of the calls whose change is under way. */
  readonly changing: ReadonlySet<string>;
  /** Why the last change failed. */
  readonly error: ApiError | undefined;
  /** Whether it failed because the call is over. */
  readonly isOver: boolean;
  /** Calls `onTaken` when somebody else was faster. */
  readonly claim: (call: ModCallResource, onTaken: (call: ModCallResource) => void) => void;
  readonly take: (call: ModCallResource) => void;
  readonly release: (call: ModCallResource) => void;
};

/** Undefined for who may not claim. */
export function useClaims(): Claims | undefined {
  const session = useServerSession();
  const client = useQueryClient();
  const [changing, setChanging] = useState<ReadonlySet<string>>(new Set());
  const running = useRef(new Set<string>());
  const [error, setError] = useState<ApiError>();

  const change = useCallback(
    async (call: ModCallResource, send: () => Promise<Outcome<ModCallResource>>): Promise<ApiError | undefined> => {
      // The second click of a double click comes before the answer.
      if (running.current.has(call.id)) return undefined;
      running.current.add(call.id);
      setChanging(new Set(running.current));
      const outcome = await send();
      running.current.delete(call.id);
      setChanging(new Set(running.current));
      if (outcome.ok) await replaceCall(client, outcome.value);
      else void client.refetchQueries({ queryKey: MOD_CALLS_KEY });
      setError(outcome.ok ? undefined : outcome.error);
      return outcome.ok ? undefined : outcome.error;
    },
    [client],
  );

  if (session.kind !== "caller" || !session.may.has("claim")) return undefined;
  const { api } = session;
  const claimOf = ({ claimed_by: by }: ModCallResource): Claim => {
    if (by === null) return { kind: "free" };
    if (isOwn(by, session)) return { kind: "mine" };
    return { kind: "others", name: by.name, mayRelease: session.commands.includes("*") };
  };
  return {
    claimOf,
    changing,
    error,
    isOver: error?.details?.state !== undefined,
    claim: async (call, onTaken) => {
      const failure = await change(call, () => api.claimModCall(call.id, false));
      const by = (failure?.details as { readonly claimed_by?: Claimer } | undefined)?.claimed_by;
      if (!by) return;
      setError(undefined);
      onTaken({ ...call, state: "claimed", claimed_by: by });
    },
    take: (call) => void change(call, () => api.claimModCall(call.id, true)),
    release: (call) => void change(call, () => api.releaseModCall(call.id)),
  };
}

function isOwn({ kind, id }: Claimer, { person, ownKey }: CallerSession): boolean {
  return person ? kind === "person" && id === person.read().person.person_id : kind === "key" && id === ownKey.key_id;
}

/** A reading under way may be from before the change. */
async function replaceCall(client: ReturnType<typeof useQueryClient>, call: ModCallResource): Promise<void> {
  await client.cancelQueries({ queryKey: MOD_CALLS_KEY });
  client.setQueryData<CallsAnswer>(
    MOD_CALLS_KEY,
    (last) => last && { ...last, items: last.items.map((one) => (one.id === call.id ? call : one)) },
  );
}

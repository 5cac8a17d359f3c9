// Who reads the archive: a caller with what its key may read, or an operator, who may read everything and has no limit.
import { isRefusal, NOT_FOUND, type Refusal } from "../../core/errors.ts";
import { READS_ALL, type ReadRights } from "../../core/keys/api-key.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { LimitReport } from "../../gateway/keys/admit.ts";
import type { Call } from "../call.ts";
import { pathIdOf } from "../requests/parse-request.ts";
import type { Caller, CallerSteps, Purpose } from "../steps/caller-steps.ts";
import type { AdminCaller } from "../steps/operator-step.ts";

export type ArchiveReader = {
  readonly serverId: string;
  readonly rights: ReadRights;
  /** Undefined for an operator. */
  readonly keyId: string | undefined;
  /** Null when the request did not count. */
  readonly report: LimitReport | null;
  /** Says what the reader may read now, which may have changed while the request waited. */
  readonly recheck: () => Promise<ReadRights | Refusal>;
};

export type ArchiveReaderParts = {
  readonly servers: Pick<ServerStore, "find">;
  readonly callerSteps: Pick<CallerSteps, "recheck">;
  readonly clock: Clock;
};

export function toArchiveReader(
  { callerSteps, clock }: ArchiveReaderParts,
  call: Call,
  purpose: Purpose,
  { key, server, report }: Caller,
): ArchiveReader {
  return {
    serverId: server.serverId,
    rights: key.grant,
    keyId: key.keyId,
    report,
    async recheck() {
      const found = await callerSteps.recheck(call, purpose, clock());
      return isRefusal(found) ? found : found.grant;
    },
  };
}

/** The operator as a reader of the server that the path names. */
export function findOperatorReader(
  { servers }: Pick<ArchiveReaderParts, "servers">,
  call: Call,
  { recheck }: Pick<AdminCaller, "recheck">,
): ArchiveReader | Refusal {
  const serverId = pathIdOf(call);
  if (!servers.find(serverId)) return NOT_FOUND;
  return {
    serverId,
    rights: READS_ALL,
    keyId: undefined,
    report: null,
    async recheck() {
      const authority = await recheck();
      if (isRefusal(authority)) return authority;
      return servers.find(serverId) ? READS_ALL : NOT_FOUND;
    },
  };
}

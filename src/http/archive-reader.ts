// Who reads the archive: a caller with what its key may read, or an operator, who may read everything and has no limit.
import { isRefusal, type Refusal } from "../core/errors.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { ServerStore } from "../core/ports/servers.ts";
import { NOT_FOUND } from "../core/refuse-field.ts";
import { ALL_SECTIONS, type SectionSet } from "../core/sections.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import type { Call } from "./call.ts";
import type { Caller, CallerSteps, Purpose } from "./caller-steps.ts";
import { pathIdOf } from "./parse-request.ts";

export type ArchiveReader = {
  readonly serverId: string;
  readonly sections: SectionSet;
  /** Undefined for an operator. */
  readonly keyId: string | undefined;
  /** Null when the request did not count. */
  readonly report: LimitReport | null;
  /** Says what the reader may read now, which may have changed while the request waited. */
  readonly recheck: () => Promise<SectionSet | Refusal>;
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
    sections: key.grant.sections,
    keyId: key.keyId,
    report,
    async recheck() {
      const found = await callerSteps.recheck(call, purpose, clock());
      return isRefusal(found) ? found : found.grant.sections;
    },
  };
}

/** The operator as a reader of the server that the path names. */
export function findOperatorReader({ servers }: ArchiveReaderParts, call: Call): ArchiveReader | Refusal {
  const serverId = pathIdOf(call);
  if (!servers.find(serverId)) return NOT_FOUND;
  return {
    serverId,
    sections: ALL_SECTIONS,
    keyId: undefined,
    report: null,
    recheck: async () => (servers.find(serverId) ? ALL_SECTIONS : NOT_FOUND),
  };
}

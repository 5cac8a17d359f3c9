// Who reads a stream: parses what it asks for, and checks again whether it may still have it.
import { ERRORS, isRefusal, NOT_FOUND, type Refusal, refuse } from "../../core/errors.ts";
import { type ApiKey, isSameReading, READS_ALL } from "../../core/keys/api-key.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Authority } from "../../core/people/authority.ts";
import type { PageStart } from "../../core/ports/archive.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { nameFilter } from "../../gateway/events/event-batch.ts";
import type { StreamReader } from "../../gateway/events/event-streams.ts";
import type { Call } from "../call.ts";
import type { CallerSteps, StreamCaller } from "../steps/caller-steps.ts";
import type { AdminCaller } from "../steps/operator-step.ts";
import { parseStreamQuery, type StreamQuery } from "./event-query.ts";

/** A key that would get less than when the stream began. */
const NARROWED = refuse(ERRORS.sectionForbidden);

export type AskedStream = { readonly start: PageStart; readonly reader: StreamReader };

export class StreamReaders {
  constructor(
    private readonly callerSteps: Pick<CallerSteps, "recheckReader">,
    private readonly findAddress: (call: Call) => string,
    private readonly servers: Pick<ServerStore, "find">,
  ) {}

  /** Called while the request's socket is there, which knows the address. */
  describe(call: Call, authorization: string | null): StreamCaller {
    return { authorization, community: call.target.params.community, address: this.findAddress(call) };
  }

  open(caller: StreamCaller, query: StreamQuery, key: ApiKey): AskedStream | Refusal {
    const { serverId, keyId, grant } = key;
    const parsed = parseStreamQuery(query, serverId, grant);
    if (isRefusal(parsed)) return parsed;
    const filter = nameFilter(parsed.filter, grant.hide);
    const { types } = query;
    const judge = (found: ApiKey | Refusal): Refusal | undefined => {
      if (isRefusal(found)) return found;
      // The usual case, several times a second for every stream.
      if (isSameReading(found.grant, grant)) return undefined;
      const now = parseStreamQuery({ types, place: undefined }, serverId, found.grant);
      if (isRefusal(now)) return now;
      const isHidingMore = (found.grant.hide & ~grant.hide) !== 0;
      return filter.kinds.isSubsetOf(now.filter) && !isHidingMore ? undefined : NARROWED;
    };
    const recheck = (now: number): MaybePromise<Refusal | undefined> => {
      const found = this.callerSteps.recheckReader(caller, now);
      return found instanceof Promise ? found.then(judge) : judge(found);
    };
    return { start: parsed.start, reader: { serverId, keyId, filter, recheck } };
  }

  /** For an operator, who may read everything for as long as the server exists and they are one. */
  openOperator(serverId: string, query: StreamQuery, caller: Pick<AdminCaller, "recheck">): AskedStream | Refusal {
    const servers = this.servers;
    const parsed = parseStreamQuery(query, serverId, READS_ALL);
    if (isRefusal(parsed)) return parsed;
    const findGone = () => (servers.find(serverId) ? undefined : NOT_FOUND);
    const judge = (found: Authority | Refusal) => (isRefusal(found) ? found : findGone());
    const recheck = (): MaybePromise<Refusal | undefined> => {
      const found = caller.recheck();
      return found instanceof Promise ? found.then(judge) : judge(found);
    };
    const filter = nameFilter(parsed.filter);
    return findGone() ?? { start: parsed.start, reader: { serverId, keyId: undefined, filter, recheck } };
  }
}

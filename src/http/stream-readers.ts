// Who reads a stream: parses what it asks for, and checks again whether it may still have it.
import type { ApiKey } from "../core/api-key.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { PageStart } from "../core/ports/archive.ts";
import type { ServerStore } from "../core/ports/servers.ts";
import { NOT_FOUND } from "../core/refuse-field.ts";
import { ALL_SECTIONS } from "../core/sections.ts";
import { nameFilter } from "../gateway/events/event-batch.ts";
import type { StreamReader } from "../gateway/events/event-streams.ts";
import type { Call } from "./call.ts";
import type { CallerSteps, StreamCaller } from "./caller-steps.ts";
import { parseStreamQuery, type StreamQuery } from "./event-query.ts";

/** A key that would get less than when the stream began. */
const NARROWED = refuse(ERRORS.sectionForbidden);

export type AskedStream = { readonly start: PageStart; readonly reader: StreamReader };

export class StreamReaders {
  readonly #callerSteps: Pick<CallerSteps, "recheckReader">;
  readonly #findAddress: (call: Call) => string;
  readonly #servers: Pick<ServerStore, "find">;

  constructor(
    callerSteps: Pick<CallerSteps, "recheckReader">,
    findAddress: (call: Call) => string,
    servers: Pick<ServerStore, "find">,
  ) {
    this.#callerSteps = callerSteps;
    this.#findAddress = findAddress;
    this.#servers = servers;
  }

  /** Called while the request's socket is there, which knows the address. */
  describe(call: Call, authorization: string | null): StreamCaller {
    return { authorization, community: call.target.params.community, address: this.#findAddress(call) };
  }

  open(caller: StreamCaller, query: StreamQuery, key: ApiKey): AskedStream | Refusal {
    const { serverId, keyId, grant } = key;
    const parsed = parseStreamQuery(query, serverId, grant.sections);
    if (isRefusal(parsed)) return parsed;
    const filter = nameFilter(parsed.filter);
    const { types } = query;
    const first = grant.sections;
    const judge = (found: ApiKey | Refusal): Refusal | undefined => {
      if (isRefusal(found)) return found;
      const { sections } = found.grant;
      // The usual case, several times a second for every stream.
      if (sections === first) return undefined;
      const now = parseStreamQuery({ types, place: undefined }, serverId, sections);
      if (isRefusal(now)) return now;
      return filter.kinds.isSubsetOf(now.filter) ? undefined : NARROWED;
    };
    const recheck = (now: number): MaybePromise<Refusal | undefined> => {
      const found = this.#callerSteps.recheckReader(caller, now);
      return found instanceof Promise ? found.then(judge) : judge(found);
    };
    return { start: parsed.start, reader: { serverId, keyId, filter, recheck } };
  }

  /** For an operator, who may read everything for as long as the server exists. */
  openOperator(serverId: string, query: StreamQuery): AskedStream | Refusal {
    const servers = this.#servers;
    const parsed = parseStreamQuery(query, serverId, ALL_SECTIONS);
    if (isRefusal(parsed)) return parsed;
    const recheck = () => (servers.find(serverId) ? undefined : NOT_FOUND);
    const filter = nameFilter(parsed.filter);
    return recheck() ?? { start: parsed.start, reader: { serverId, keyId: undefined, filter, recheck } };
  }
}

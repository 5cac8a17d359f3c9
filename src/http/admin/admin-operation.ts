// Defines the operations of the admin API. Before the handler runs, its subject is found, query and body are checked, and a
// change takes its turn, so that each is checked against the result of the one before.
import type Type from "typebox";
import { ArchiveUnavailable, isRefusal, NOT_FOUND, type Refusal, StoreUnavailable } from "../../core/errors.ts";
import type { AdminAct } from "../../core/people/authority.ts";
import type { HourStore } from "../../core/ports/history.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { Store } from "../../core/ports/store.ts";
import type { ErrorName } from "../../core/wire/error.ts";
import { pageOf } from "../../core/wire/page.ts";
import type { PlayerForgetting } from "../../gateway/events/player-forgetting.ts";
import type { KeyDeps } from "../../gateway/keys/manage-keys.ts";
import type { UsageMeter } from "../../gateway/keys/usage-meter.ts";
import type { CommandMeter } from "../../gateway/meters.ts";
import type { ManagedPeople } from "../../gateway/people/manage-people.ts";
import type { UpstreamDeps } from "../../gateway/readings/manage-upstream.ts";
import type { Relay } from "../../gateway/readings/relay.ts";
import type { Watcher } from "../../gateway/readings/watcher.ts";
import type { ManagedAlerts } from "../../gateway/servers/manage-alerts.ts";
import type { ManagedWebhooks } from "../../gateway/webhooks/manage-webhooks.ts";
import { answerDone, answerJson, answerRefusal, NOT_CONFIGURED } from "../answers.ts";
import type { Call } from "../call.ts";
import { type Definition, type RequestBody, shows, statusOf, type TagName } from "../operation.ts";
import type { ReadServerHandler } from "../readings/read-server.ts";
import { PAGE_FIELDS, type Pages } from "../requests/pages.ts";
import { parseBody, pathIdOf } from "../requests/parse-request.ts";
import {
  type Faults,
  type QueryFields,
  type QueryValues,
  queryOf,
  readFields,
  refuseFaults,
} from "../requests/query-fields.ts";
import type { AdminCaller, OperatorOperation } from "../steps/operator-step.ts";

/** A hanging database must not hold up all changes, one after the other. */
export const TURN_WAIT_MAX_MS = 3_000;
/** Longer than a change takes whose every question is answered just in time. */
const ANSWER_MAX_MS = 40_000;

export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** `Unavailable`: the error of a change that had to wait too long. */
  constructor(
    private readonly Unavailable: typeof StoreUnavailable,
    private readonly clock = () => performance.now(),
  ) {}

  /** Rejects, and changes nothing, when the change before took too long. The caller's connection is kept meanwhile. */
  async run<T>(call: Pick<Call, "extendIdleTimeout" | "resetIdleTimeout">, change: () => Promise<T>): Promise<T> {
    call.extendIdleTimeout(ANSWER_MAX_MS);
    try {
      return await this.#takeTurn(change);
    } finally {
      call.resetIdleTimeout();
    }
  }

  #takeTurn<T>(change: () => Promise<T>): Promise<T> {
    const askedAt = this.clock();
    const result = this.#last.then(() => {
      if (this.clock() - askedAt > TURN_WAIT_MAX_MS)
        throw new this.Unavailable("the change before this one took too long");
      return change();
    });
    this.#last = result.catch(() => {});
    return result;
  }
}

export type AdminParts = KeyDeps &
  ManagedPeople & {
    readonly store: Store;
    readonly pages: Pages;
    readonly relay: Pick<Relay, "summarize"> & UpstreamDeps["relay"];
    readonly watcher: Pick<Watcher, "catchUpOnAll" | "describe">;
    readonly readServer: Pick<ReadServerHandler, "answerOperator">;
    /** Whether the upstream is the built-in simulator. */
    readonly isSimulatorInUse: boolean;
    /** Called after a server was deleted. */
    readonly forgetServer: (serverId: string) => void;
    /** Called after a server key was set, which also means: try a refused global key again. */
    readonly retryGlobalKey: () => void;
    readonly commandMeter: CommandMeter;
    readonly usage: UsageMeter;
    /** How far back a key's usage is shown. */
    readonly usageMs: number;
    /** The address of our page for callers, without a slash at its end; empty when it is not known. */
    readonly findPageAddress: (call: Call) => string;
    readonly forgetting: Pick<PlayerForgetting, "forget">;
    /** Undefined without an archive, and so are the webhooks and the alerts. */
    readonly history: HourStore | undefined;
    readonly webhooks: ManagedWebhooks | undefined;
    readonly alerts: ManagedAlerts | undefined;
  };

/** What the operations of the admin API work with. */
export class AdminDeps {
  /** A change reads before it writes, so changes take turns. The archive may be away while the store is not. */
  readonly changes = { store: new Mutex(StoreUnavailable), archive: new Mutex(ArchiveUnavailable) };
  /** How many tests of webhooks are under way. */
  runningTests = 0;

  constructor(readonly parts: AdminParts) {}
}

type AdminOperation = OperatorOperation<{ readonly admin: AdminDeps }>;
type Outcome = Response | Refusal | object | undefined;

export type AdminRequest<Body = unknown, Query = unknown> = AdminAct & {
  readonly call: Call;
  /** The id in the path. */
  readonly id: string;
  /** For what goes on after the answer has begun. */
  readonly recheck: AdminCaller["recheck"];
  readonly body: Body;
  readonly query: Query;
  readonly admin: AdminDeps;
};

/** What the operations of a subject have in common. */
type Subject<D> = {
  readonly tag: TagName;
  /** Finds what they work with, before anything else. */
  readonly find: (parts: AdminParts, id: string) => D | Refusal;
  readonly errors?: readonly ErrorName[];
};

type AdminDefinition<D, S extends Type.TObject, Q extends QueryFields> = Omit<Definition, "tag" | "body" | "query"> & {
  readonly query?: Q;
  readonly body?: RequestBody<S>;
  /** Takes its turn among the changes of the store or of the archive. */
  readonly changes?: "store" | "archive";
  /** Undefined is 204; anything that is no response and no refusal is the body. */
  readonly handle: (subject: D, request: AdminRequest<Type.Static<S>, QueryValues<Q>>) => Promise<Outcome>;
};

type ListDefinition<D, Q extends QueryFields> = Pick<Definition, "id" | "summary" | "description"> & {
  readonly query?: Q;
  readonly item: Type.TSchema;
  readonly example: object;
  readonly read: (
    subject: D,
    page: PageRequest,
    request: AdminRequest<unknown, QueryValues<Q>>,
  ) => Promise<Page<object> | Refusal>;
};

export class AdminSubject<D extends object> {
  constructor(private readonly subject: Subject<D>) {}

  define<S extends Type.TObject, Q extends QueryFields>(own: AdminDefinition<D, S, Q>): AdminOperation {
    const { tag, errors = [] } = this.subject;
    const { handle: _, changes: __, ...definition } = own;
    const answer: AdminOperation["answer"] = ({ admin }, call, caller) => this.#answer(own, admin, call, caller);
    return { ...definition, tag, errors: [...(own.errors ?? []), ...errors], answer };
  }

  /** A list that is read page by page. */
  list<Q extends QueryFields>({ item, example, read, ...own }: ListDefinition<D, Q>): AdminOperation {
    return this.define({
      ...own,
      query: { ...own.query, ...PAGE_FIELDS } as Q & typeof PAGE_FIELDS,
      answers: { 200: shows("A page of them.", pageOf(item), { items: [example], next: null }) },
      errors: ["invalidRequest"],
      async handle(subject, request) {
        const { pages } = request.admin.parts;
        const { routeName } = request.call.target;
        const page = pages.open(routeName, request.query as QueryValues<typeof PAGE_FIELDS>);
        if (isRefusal(page)) return page;
        const found = await read(subject, page, request as never);
        return isRefusal(found) ? found : pages.seal(routeName, found);
      },
    });
  }

  async #answer<S extends Type.TObject, Q extends QueryFields>(
    own: AdminDefinition<D, S, Q>,
    admin: AdminDeps,
    call: Call,
    caller: AdminCaller,
  ): Promise<Response> {
    const id = pathIdOf(call);
    const subject = this.subject.find(admin.parts, id);
    if (isRefusal(subject)) return answerRefusal(call, subject);
    const faults: Faults = {};
    const query = own.query ? readFields(own.query, queryOf(call), faults) : ({} as QueryValues<Q>);
    const refusal = refuseFaults(faults);
    if (refusal) return answerRefusal(call, refusal);
    const body =
      own.body && !own.body.mediaType ? await parseBody(call, own.body.schema, own.body.isRequired) : undefined;
    if (body && isRefusal(body)) return answerRefusal(call, body);
    const handle = async () => {
      // The body may have taken its time, and the turn too.
      if (own.changes === "store") await admin.parts.store.catchUp();
      const authority = own.body || own.changes ? await caller.recheck() : caller.authority;
      if (isRefusal(authority)) return authority;
      const value = body?.value as Type.Static<S>;
      return own.handle(subject, { ...caller, authority, call, id, now: call.now, body: value, query, admin });
    };
    const outcome = await (own.changes ? admin.changes[own.changes].run(call, handle) : handle());
    if (outcome instanceof Response) return outcome;
    if (outcome === undefined) return answerDone();
    return isRefusal(outcome) ? answerRefusal(call, outcome) : answerJson(outcome, statusOf(own));
  }
}

/** Operations that work with everything. */
export function subjectOf(tag: TagName): AdminSubject<AdminParts> {
  return new AdminSubject({ tag, find: (parts) => parts });
}

/** Operations on a server that need the archive. */
export function needArchive<D extends object>(
  serverId: string,
  { store }: AdminParts,
  found: D | undefined,
): D | Refusal {
  return store.servers.find(serverId) ? (found ?? NOT_CONFIGURED) : NOT_FOUND;
}

/** The page with its items described. */
export function describePage<T, R>({ items, next }: Page<T>, describe: (item: T) => R): Page<R> {
  return { items: items.map(describe), next };
}

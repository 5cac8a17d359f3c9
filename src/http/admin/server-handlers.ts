// /admin/servers: the game servers.
import { ERRORS, isRefusal } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { PageRequest } from "../../core/ports/pages.ts";
import type { Store } from "../../core/ports/store.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import { NewServer, ServerChange, type ServerResource } from "../../core/wire/server.ts";
import type { CommandMeter } from "../../gateway/commands/command-meter.ts";
import type { Relay } from "../../gateway/readings/relay.ts";
import type { Watcher } from "../../gateway/readings/watcher.ts";
import { addServer, changeServer, removeServer } from "../../gateway/servers/manage-servers.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { describeDeletedServer, describeServer } from "../describe-resources.ts";
import type { Pages } from "../pages.ts";
import { parseBody, pathIdOf } from "../parse-request.ts";
import type { ReadServerHandler } from "../read-server.ts";
import { answerOutcome } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

/** The socket stays open this long while the keys of a deleted server are revoked: there may be a hundred thousand. */
const DELETION_MAX_MS = 120_000;

export type ServerHandlersParts = {
  readonly store: Store;
  readonly changes: Mutex;
  readonly relay: Pick<Relay, "summarize">;
  readonly watcher: Pick<Watcher, "catchUpOn" | "describe">;
  readonly readServer: Pick<ReadServerHandler, "answerOperator">;
  /** Whether the upstream is the built-in simulator. */
  readonly isSimulatorInUse: boolean;
  readonly pages: Pages;
  /** Called after a server was deleted. */
  readonly forgetServer: (serverId: string) => void;
  /** Called after a server key was set, which also means: try a refused global key again. */
  readonly retryGlobalKey: () => void;
  readonly commandMeter: CommandMeter;
};

export class ServerHandlers {
  readonly #parts: ServerHandlersParts;

  constructor(parts: ServerHandlersParts) {
    this.#parts = parts;
  }

  list(call: Call): Promise<Response> {
    const read = (page: PageRequest) => this.#parts.store.servers.list(page);
    return this.#parts.pages.answer(call, read, (server) => this.#describe(server));
  }

  async create(call: Call, actor: Actor): Promise<Response> {
    const { changes } = this.#parts;
    const request = await parseBody(call, NewServer);
    if (isRefusal(request)) return answerRefusal(call, request);
    const created = await changes.run(call, () => addServer(this.#parts, request.value, actor, call.now));
    return answerOutcome(call, created, (server) => this.#describe(server), 201);
  }

  async show(call: Call): Promise<Response> {
    const server = this.#parts.store.servers.find(pathIdOf(call)) ?? NOT_FOUND;
    if (!isRefusal(server)) await this.#parts.watcher.catchUpOn(server);
    return answerOutcome(call, server, (found) => this.#describe(found));
  }

  /** The state of the server through the relay, as its callers get it. */
  async readInfo(call: Call): Promise<Response> {
    const { store, readServer } = this.#parts;
    const server = store.servers.find(pathIdOf(call)) ?? NOT_FOUND;
    if (isRefusal(server)) return answerRefusal(call, server);
    const response = await readServer.answerOperator(call, server);
    // A caller's key ends with its server, so that is what the relay says about a server that was deleted meanwhile.
    return response.status === ERRORS.invalidToken.status ? answerRefusal(call, NOT_FOUND) : response;
  }

  async change(call: Call, actor: Actor): Promise<Response> {
    const { changes, retryGlobalKey } = this.#parts;
    const request = await parseBody(call, ServerChange);
    if (isRefusal(request)) return answerRefusal(call, request);
    const changed = await changes.run(call, () =>
      changeServer(this.#parts, pathIdOf(call), request.value, actor, call.now),
    );
    if (!isRefusal(changed) && request.value.server_key !== undefined) retryGlobalKey();
    return answerOutcome(call, changed, (server) => this.#describe(server));
  }

  async delete(call: Call, actor: Actor): Promise<Response> {
    const { store, forgetServer, commandMeter } = this.#parts;
    const serverId = pathIdOf(call);
    call.extendIdleTimeout(DELETION_MAX_MS);
    try {
      // Without the mutex: other changes need not wait while very many keys are revoked.
      const removed = await removeServer(store, serverId, actor, call.now);
      if (!isRefusal(removed)) {
        forgetServer(serverId);
        commandMeter.count("failed", removed.failedCommands);
      }
      return answerOutcome(call, removed, describeDeletedServer);
    } finally {
      call.resetIdleTimeout();
    }
  }

  #describe(server: GameServer): ServerResource {
    const { relay, watcher } = this.#parts;
    return describeServer(server, relay.summarize(server), watcher.describe(server));
  }
}

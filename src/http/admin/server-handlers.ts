// /admin/servers: the game servers.
import { isRefusal } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { Store } from "../../core/ports/store.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import { NewServer, ServerChange } from "../../core/wire/server.ts";
import type { CommandMeter } from "../../gateway/commands/command-meter.ts";
import { addServer, changeServer, removeServer } from "../../gateway/servers/manage-servers.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { describeDeletedServer, describeServer } from "../describe-resources.ts";
import type { Pages } from "../pages.ts";
import { parseBody, pathIdOf } from "../parse-request.ts";
import { answerOutcome } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

/** The socket stays open this long while the keys of a deleted server are revoked: there may be a hundred thousand. */
const DELETION_MAX_MS = 120_000;

export type ServerHandlersParts = {
  readonly store: Store;
  readonly changes: Mutex;
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
    return this.#parts.pages.answer(call, (page) => this.#parts.store.servers.list(page), describeServer);
  }

  async create(call: Call, actor: Actor): Promise<Response> {
    const { store, changes } = this.#parts;
    const request = await parseBody(call, NewServer);
    if (isRefusal(request)) return answerRefusal(call, request);
    const created = await changes.run(() => addServer(store, request.value, actor, call.now));
    return answerOutcome(call, created, describeServer, 201);
  }

  async show(call: Call): Promise<Response> {
    const server = this.#parts.store.servers.find(pathIdOf(call)) ?? NOT_FOUND;
    return answerOutcome(call, server, describeServer);
  }

  async change(call: Call, actor: Actor): Promise<Response> {
    const { store, changes, retryGlobalKey } = this.#parts;
    const request = await parseBody(call, ServerChange);
    if (isRefusal(request)) return answerRefusal(call, request);
    const changed = await changes.run(() =>
      changeServer(store, pathIdOf(call), request.value, actor, call.now),
    );
    if (!isRefusal(changed) && request.value.server_key !== undefined) retryGlobalKey();
    return answerOutcome(call, changed, describeServer);
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
}

// /admin/commands: the commands of all servers.
import type { Command } from "../../core/command.ts";
import { isRefusal, type Refusal } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { Store } from "../../core/ports/store.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import type { CommandMeter } from "../../gateway/commands/command-meter.ts";
import { cancelCommand } from "../../gateway/commands/manage-commands.ts";
import { readSenderLabels } from "../../gateway/commands/sender-labels.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { parseStatus } from "../commands.ts";
import { describeOwnedCommand } from "../describe-resources.ts";
import type { Pages } from "../pages.ts";
import { parseId, pathIdOf, queryOf } from "../parse-request.ts";
import type { Mutex } from "./mutex.ts";

export type AdminCommandParts = {
  readonly store: Pick<Store, "commands" | "keys">;
  readonly changes: Mutex;
  readonly pages: Pages;
  readonly commandMeter: CommandMeter;
};

export class AdminCommandHandlers {
  readonly #parts: AdminCommandParts;

  constructor(parts: AdminCommandParts) {
    this.#parts = parts;
  }

  async list(call: Call): Promise<Response> {
    const { pages, store } = this.#parts;
    const { commands } = store;
    const query = queryOf(call);
    const serverId = parseId(query, "server_id", "srv_");
    if (typeof serverId === "object") return answerRefusal(call, serverId);
    const status = parseStatus(query);
    if (typeof status === "object") return answerRefusal(call, status);
    const name = call.target.routeName;
    const page = pages.parse(name, query);
    if (isRefusal(page)) return answerRefusal(call, page);
    const found = await commands.list({ ...page, serverId, status });
    const labels = await readSenderLabels(store.keys, found.items);
    return answerJson(pages.describe(name, found, (command) => describeOwnedCommand(command, labels)));
  }

  async show(call: Call): Promise<Response> {
    const command = await this.#parts.store.commands.find(pathIdOf(call));
    return this.#answer(call, command ?? NOT_FOUND);
  }

  async cancel(call: Call, actor: Actor): Promise<Response> {
    const { store, changes, commandMeter } = this.#parts;
    const cancelled = await changes.run(call, () =>
      cancelCommand(store.commands, commandMeter, pathIdOf(call), actor, call.now),
    );
    return this.#answer(call, cancelled);
  }

  async #answer(call: Call, command: Command | Refusal): Promise<Response> {
    if (isRefusal(command)) return answerRefusal(call, command);
    const labels = await readSenderLabels(this.#parts.store.keys, [command]);
    return answerJson(describeOwnedCommand(command, labels));
  }
}

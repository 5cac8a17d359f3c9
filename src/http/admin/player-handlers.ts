// /admin/players: forgetting a player.
import type { Actor } from "../../core/ports/audit.ts";
import { refuseField } from "../../core/refuse-field.ts";
import type { PlayerForgetting } from "../../gateway/events/player-forgetting.ts";
import type { Call } from "../call.ts";
import { pathIdOf } from "../parse-request.ts";
import { answerDone } from "./answer-operator.ts";

export class PlayerHandlers {
  readonly #forgetting: Pick<PlayerForgetting, "forget">;

  constructor(forgetting: Pick<PlayerForgetting, "forget">) {
    this.#forgetting = forgetting;
  }

  async forget(call: Call, actor: Actor): Promise<Response> {
    const id = pathIdOf(call);
    if (!/^[0-9]+$/.test(id)) return answerDone(call, refuseField("id", "must be digits"));
    await this.#forgetting.forget(id, actor);
    return answerDone(call, undefined);
  }
}

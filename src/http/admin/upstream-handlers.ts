// /admin/upstream: the budget of calls to the game API, and the end of a pause.
import type { Actor } from "../../core/ports/audit.ts";
import { resumeUpstream, showUpstream, type UpstreamParts } from "../../gateway/readings/manage-upstream.ts";
import { answerJson } from "../answers.ts";
import type { Call } from "../call.ts";
import type { Mutex } from "./mutex.ts";

export type UpstreamHandlersParts = UpstreamParts & { readonly changes: Mutex };

export class UpstreamHandlers {
  readonly #parts: UpstreamHandlersParts;

  constructor(parts: UpstreamHandlersParts) {
    this.#parts = parts;
  }

  async show(call: Call): Promise<Response> {
    return answerJson(await showUpstream(this.#parts, call.now));
  }

  async resume(call: Call, actor: Actor): Promise<Response> {
    return answerJson(
      await this.#parts.changes.run(call, () => resumeUpstream(this.#parts, actor, call.now)),
    );
  }
}

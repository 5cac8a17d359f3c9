// /admin/blocks: the spam blocks in force.
import type { Actor } from "../../core/ports/audit.ts";
import type { BlockResource } from "../../core/wire/block.ts";
import { type KeyParts, liftBlock, listBlocks } from "../../gateway/keys/manage-keys.ts";
import type { Call } from "../call.ts";
import type { Pages } from "../pages.ts";
import { pathIdOf } from "../parse-request.ts";
import { answerDone } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

export type BlockHandlersParts = KeyParts & { readonly changes: Mutex; readonly pages: Pages };

export class BlockHandlers {
  readonly #parts: BlockHandlersParts;

  constructor(parts: BlockHandlersParts) {
    this.#parts = parts;
  }

  list(call: Call): Promise<Response> {
    return this.#parts.pages.answer(
      call,
      (page) => listBlocks(this.#parts.store, page, call.now),
      (block: BlockResource) => block,
    );
  }

  async lift(call: Call, actor: Actor): Promise<Response> {
    const refusal = await this.#parts.changes.run(call, () =>
      liftBlock(this.#parts, pathIdOf(call), actor, call.now),
    );
    return answerDone(call, refusal);
  }
}

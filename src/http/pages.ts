// Pages of lists: `limit` and `cursor` in the query, and the page as it is answered.
import { isRefusal, type Refusal } from "../core/errors.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../core/page-size.ts";
import type { Page, PageRequest } from "../core/ports/pages.ts";
import { refuseField } from "../core/refuse-field.ts";
import type { PageOf } from "../core/wire/page.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import type { CursorSealer } from "./cursor.ts";
import { findOnly, queryOf } from "./parse-request.ts";

export class Pages {
  readonly #cursors: CursorSealer;

  constructor(cursors: CursorSealer) {
    this.#cursors = cursors;
  }

  /** The list's name is part of its cursors, so that they fit no other list. */
  parse(list: string, query: URLSearchParams, sizeDefault = PAGE_SIZE_DEFAULT): PageRequest | Refusal {
    const limit = findOnly(query, "limit");
    const sealed = findOnly(query, "cursor");
    if (limit === null || (limit !== undefined && !/^\d{1,3}$/.test(limit))) return refuseLimit();
    const size = limit === undefined ? sizeDefault : Number(limit);
    if (size < 1 || size > PAGE_SIZE_MAX) return refuseLimit();
    if (sealed === undefined) return { limit: size };
    const cursor = sealed === null ? undefined : this.#cursors.open(list, sealed);
    if (cursor === undefined) return refuseField("cursor", "must be the `next` of an earlier answer");
    return { limit: size, cursor };
  }

  /** A page as it is answered. */
  describe<T, R>(list: string, { items, next }: Page<T>, describe: (item: T) => R): PageOf<R> {
    return { items: items.map(describe), next: next === null ? null : this.#cursors.seal(list, next) };
  }

  /** Answers an operator with the page that the query names. */
  async answer<T>(
    call: Call,
    read: (page: PageRequest) => Promise<Page<T>>,
    describe: (item: T) => unknown,
  ): Promise<Response> {
    const name = call.target.routeName;
    const request = this.parse(name, queryOf(call));
    if (isRefusal(request)) return answerRefusal(call, request);
    return answerJson(this.describe(name, await read(request), describe));
  }
}

function refuseLimit(): Refusal {
  return refuseField("limit", `must be a whole number from 1 to ${PAGE_SIZE_MAX}`);
}

// Pages of lists: `limit` and `cursor` in the query, and the page as it is answered.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import Type from "typebox";
import { type Refusal, refuseField } from "../../core/errors.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, type Page, type PageRequest } from "../../core/ports/pages.ts";
import type { PageOf } from "../../core/wire/page.ts";
import { type QueryValues, textLike, wholeNumber } from "./query-fields.ts";

const NO_CURSOR = "must be the `next` of an earlier answer";
const CURSOR_SCHEMA = Type.String({ maxLength: 300 });

export const PAGE_FIELDS = {
  limit: wholeNumber(1, PAGE_SIZE_MAX, { description: "How many items a page has.", default: PAGE_SIZE_DEFAULT }),
  cursor: textLike(NO_CURSOR, CURSOR_SCHEMA, { description: "The `next` of the page before." }),
};

export class Pages {
  constructor(private readonly cursors: CursorSealer) {}

  /** The list's name is part of its cursors, so that they fit no other list. */
  open(
    list: string,
    { limit, cursor: sealed }: QueryValues<typeof PAGE_FIELDS>,
    sizeDefault = PAGE_SIZE_DEFAULT,
  ): PageRequest | Refusal {
    const cursor = sealed === undefined ? undefined : this.cursors.open(list, sealed);
    if (cursor === undefined && sealed !== undefined) return refuseField("cursor", NO_CURSOR);
    return { limit: limit ?? sizeDefault, cursor };
  }

  /** A page as it is answered. */
  seal<T>(list: string, { items, next }: Page<T>): PageOf<T> {
    return { items, next: next === null ? null : this.cursors.seal(list, next) };
  }
}

const SHAPE = /^[A-Za-z0-9_-]{40,300}$/;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Cursors are padded to a multiple of this, because the length of a number tells its size. */
const BLOCK_LENGTH = 32;
const PADDING = "\0";

/**
 * Cursors as callers see them: encrypted, because a position in a list tells how much all callers together have stored, and
 * bound to their list, so that an altered cursor or one of another list is refused.
 */
export class CursorSealer {
  readonly #key: Uint8Array;

  /** The same secret on all instances, so that each of them opens the cursors of the others. */
  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "cursors.v1", 32));
  }

  seal(list: string, cursor: string): string {
    const padded = cursor.padEnd(Math.ceil(cursor.length / BLOCK_LENGTH) * BLOCK_LENGTH, PADDING);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(list));
    const sealed = [nonce, cipher.update(padded, "utf8"), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString("base64url");
  }

  /** Undefined when it was altered, belongs to another list, or was never given. */
  open(list: string, sealed: string): string | undefined {
    const bytes = SHAPE.test(sealed) ? Buffer.from(sealed, "base64url") : undefined;
    // The last character of base64 may have bits that decode to nothing: only one spelling is accepted.
    if (!bytes || bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== sealed) return undefined;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(list)).setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(opened).toString("utf8").replaceAll(PADDING, "");
    } catch {
      return undefined;
    }
  }
}

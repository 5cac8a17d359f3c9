// Lists on the wire: one page at a time, each with the cursor of the next.
import Type from "typebox";

/** `next` is the `cursor` of the next page, null on the last one. */
export type PageOf<T> = { readonly items: readonly T[]; readonly next: string | null };

export type PageQuery = { readonly limit?: number; readonly cursor?: string };

export function pageOf<S extends Type.TSchema>(items: S) {
  return Type.Object({
    items: Type.Array(items),
    next: Type.Union([Type.String(), Type.Null()], {
      description: "Send it as `cursor` for the next page; null on the last",
    }),
  });
}

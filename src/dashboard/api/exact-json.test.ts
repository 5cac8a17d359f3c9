import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseExactJson as parseWithBigInts } from "../../../packages/client/src/exact-json.ts";
import { parseExactJson } from "./exact-json.ts";

test("an id has the digits that the client reads, as a string where the client has a bigint", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.bigInt(), fc.integer().map(BigInt))), fc.json(), (ids, other) => {
      const text = `{"Queue":[${ids.join(",")}],"other":[${other}]}`;
      const read = parseWithBigInts(text) as { readonly Queue: readonly (number | bigint)[] };
      const { Queue } = parseExactJson(text) as { readonly Queue: readonly unknown[] };
      expect(Queue).toEqual(read.Queue.map((id) => (typeof id === "bigint" ? String(id) : id)));
    }),
  );
});

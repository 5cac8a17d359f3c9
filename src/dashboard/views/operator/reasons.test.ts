// The page can translate every reason of the admin API's schemas.
import { describe, expect, test } from "bun:test";
import type Type from "typebox";
import { KeyUpdate, NewKey, Rotation } from "../../../core/wire/key.ts";
import { NewServer } from "../../../core/wire/server.ts";
import { operatorEn } from "../../locales/operator-en.ts";
import { operatorRu } from "../../locales/operator-ru.ts";
import { recogniseReason } from "./reasons.ts";

/** These fields are selected from a list, so they cannot be invalid. */
const SELECTED = ["server_id", "versions", "sections", "suspended"];

function descriptionsOf({ properties }: Type.TObject): [string, string][] {
  return Object.entries(properties as Record<string, { description?: string }>)
    .filter(([field]) => !SELECTED.includes(field))
    .map(([field, schema]) => [field, schema.description ?? ""]);
}

describe("a reason of the admin API", () => {
  test.each([NewServer, NewKey, KeyUpdate, Rotation].flatMap(descriptionsOf))(
    "for %s is known: %s",
    (_, reason) => {
      expect(recogniseReason(reason)).toBeDefined();
    },
  );

  test("keeps the place in a list", () => {
    const reason = "has neither an address nor a range like 10.0.0.0/8 in place 17";
    expect(recogniseReason(reason)).toEqual({ name: "address", place: "17" });
    expect(
      [operatorEn, operatorRu].map(({ operatorReasons }) => operatorReasons.address.includes("{{place}}")),
    ).toEqual([true, true]);
  });

  test("that is unknown is not recognised as another", () => {
    expect(recogniseReason("must be prettier")).toBeUndefined();
  });
});

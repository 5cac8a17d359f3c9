// Fitting untrusted JSON to a schema: values that do not fit are dropped and counted.
import { describe, expect, test } from "bun:test";
import Type, { type TSchema } from "typebox";
import { parseExactJson } from "../core/exact-json.ts";
import { compileFit, INVALID } from "./fit-shape.ts";

function fit(schema: TSchema, text: string, keepsUnknown = false) {
  const report = { misfits: 0 };
  const fitted = compileFit(schema, { keepsUnknown })(parseExactJson(text), report);
  return { text: fitted === INVALID ? "misfit" : JSON.stringify(fitted), misfits: report.misfits };
}

describe("single values", () => {
  test.each<[string, TSchema, string[], string[]]>([
    ["a string", Type.String(), ['""', '"x"'], ["1", "null", "true", "[]", "{}"]],
    ["a boolean", Type.Boolean(), ["true", "false"], ["0", '"true"', "null", "[]", "{}"]],
    ["a number", Type.Number(), ["1", "1.5", "-0", "1e400", "123456789012345678901"], ['"1"', "null", "true", "[]"]],
    ["an integer", Type.Integer(), ["1", "1.0", "1e3", "123456789012345678901"], ["1.5", "1e-1", '"1"', "null"]],
    ["a text or null", Type.Union([Type.String(), Type.Null()]), ['"x"', "null"], ["1", "false", "[]", "{}"]],
  ])("%s is relayed as it came, and nothing else passes for one", (_, schema, good, bad) => {
    for (const text of good) expect(fit(schema, text)).toEqual({ text, misfits: 0 });
    for (const text of bad) expect(fit(schema, text).text).toBe("misfit");
  });
});

describe("lists", () => {
  test("items of the wrong type are dropped and counted, the others keep their order", () => {
    expect(fit(Type.Array(Type.Integer()), '[1,"x",2.0,null,1.5,3,[]]')).toEqual({
      text: "[1,2.0,3]",
      misfits: 4,
    });
  });
  test("a value that is not a list does not fit", () => {
    for (const text of ["{}", "null", '"[]"', "1"]) expect(fit(Type.Array(Type.Integer()), text).text).toBe("misfit");
  });
  test("a list of a fixed length fits whole or not at all", () => {
    const pair = Type.Array(Type.Number(), { minItems: 2, maxItems: 2 });
    expect(fit(pair, "[1.50,-2]").text).toBe("[1.50,-2]");
    for (const text of ["[]", "[1]", "[1,2,3]", '[1,"2"]', "[1,null]"]) expect(fit(pair, text).text).toBe("misfit");
  });
});

describe("maps", () => {
  const map = Type.Record(Type.String({ pattern: "^[0-9]+$" }), Type.String());

  test("keys outside the pattern and values of another kind are dropped and counted", () => {
    const text = '{"1":"a","x":"b","2":7,"-3":"c","4\\n":"d","":"e","٣":"f"}';
    expect(fit(map, text)).toEqual({ text: '{"1":"a"}', misfits: 6 });
  });
  test("an empty list is an empty map", () => {
    expect(fit(map, "[]")).toEqual({ text: "{}", misfits: 0 });
  });
  test("a list with something in it is none", () => {
    expect(fit(map, '["a"]').text).toBe("misfit");
  });
  test("a key named __proto__ is dropped like any other that is no number", () => {
    expect(fit(map, '{"__proto__":"a","1":"b"}').text).toBe('{"1":"b"}');
  });
});

describe("objects", () => {
  const schema = Type.Object({
    A: Type.Integer(),
    B: Type.Optional(Type.String()),
    C: Type.Optional(Type.Boolean()),
  });

  test("fields come in the schema's order, unknown ones are dropped", () => {
    expect(fit(schema, '{"C":true,"Z":9,"B":"b","A":1}').text).toBe('{"A":1,"B":"b","C":true}');
  });
  test("an optional field of another kind is left out and counted, one that is missing is not counted", () => {
    expect(fit(schema, '{"A":1,"B":7,"C":null}')).toEqual({ text: '{"A":1}', misfits: 2 });
    expect(fit(schema, '{"A":1}')).toEqual({ text: '{"A":1}', misfits: 0 });
  });
  test("without a required field there is no object", () => {
    for (const text of ["{}", '{"A":"1"}', '{"A":null}', '{"a":1}', "[]", "null", "1"]) {
      expect(fit(schema, text).text).toBe("misfit");
    }
  });
  test("unknown fields are passed on after the known ones when they are kept, numbers exact", () => {
    const text = '{"Y":{"big":12345678901234567890,"one":1.0},"A":1,"X":[null]}';
    expect(fit(schema, text, true).text).toBe('{"A":1,"Y":{"big":12345678901234567890,"one":1.0},"X":[null]}');
  });
  test("a known field of the wrong kind is not passed on as an unknown one", () => {
    expect(fit(schema, '{"A":1,"B":7}', true).text).toBe('{"A":1}');
  });
  test("a kept field named __proto__ lends nothing to the object", () => {
    const report = { misfits: 0 };
    const given = parseExactJson('{"A":1,"__proto__":{"B":"stolen","toString":"x"}}');
    const fitted = compileFit(schema, { keepsUnknown: true })(given, report) as Record<string, unknown>;
    expect(Object.getPrototypeOf(fitted)).toBe(Object.prototype);
    expect(fitted.B).toBeUndefined();
  });
  test("fields that every object inherits are not taken for given ones", () => {
    const odd = Type.Object({
      toString: Type.Optional(Type.String()),
      constructor: Type.Optional(Type.String()),
    });
    expect(fit(odd, "{}")).toEqual({ text: "{}", misfits: 0 });
  });
});

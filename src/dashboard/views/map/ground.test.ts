// Streets and postal codes made from cells, and how often they are drawn.
import { describe, expect, test } from "bun:test";
import type { GameMapResource } from "../../../core/wire/game-map.ts";
import { type Ground, makeGround } from "./ground.ts";
import { GroundLayer } from "./ground-layer.ts";
import { Painter } from "./painter.ts";

type Cells = readonly (readonly [x: number, z: number, seen: number])[];
const name = (text: string, cells: Cells) => ({ name: text, cells: cells.map((cell) => [...cell]) });
const learn = (more: Partial<GameMapResource>): GameMapResource => {
  return { cell_size: 40, streets: [], postal_codes: [], image: null, ...more };
};
/** Cells in a row, each with its middle. */
const row = (from: number, to: number, z = 20, seen = 5): Cells =>
  Array.from({ length: to - from + 1 }, (_, n) => [(from + n) * 40 + 20, z, seen] as const);
/** The pieces with a length, as four numbers each. */
const linesOf = ({ pieces }: Ground) => {
  return pieces.filter(([from, to]) => from !== to).map(([from, to]) => [from.x, from.y, to.x, to.y]);
};

describe("the ground", () => {
  test("joins neighbouring cells of one street, each pair once", () => {
    const ground = makeGround(learn({ streets: [name("Park Street", row(0, 2))] }));
    expect(linesOf(ground)).toEqual([
      [20, 20, 60, 20],
      [60, 20, 100, 20],
    ]);
  });

  test("bridges a small hole in a straight line, and no large one", () => {
    const street = name("Park Street", [...row(0, 0), ...row(4, 4), ...row(30, 30)]);
    expect(linesOf(makeGround(learn({ streets: [street] })))).toEqual([[20, 20, 180, 20]]);
  });

  test("leaves out a name that is rare in its cell, and joins no two streets", () => {
    const streets = [name("Park Street", row(0, 2, 20, 100)), name("Elm", row(2, 3, 21, 2))];
    const lines = linesOf(makeGround(learn({ streets })));
    expect(lines).toHaveLength(2);
  });

  test("puts a name in the middle of the longest straight part, upright on a street that runs down", () => {
    const down: Cells = Array.from({ length: 9 }, (_, n) => [20, n * 40 + 20, 5] as const);
    const { streets } = makeGround(
      learn({ streets: [name("Ridge\u202e Road", [...row(0, 2), ...down]), name("Park", row(0, 40, 500))] }),
    );
    expect(streets[0]).toEqual({
      name: "Ridge\ufffd Road",
      anchors: [{ x: 20, y: 180, isUpright: true }],
      length: 360,
    });
    expect(streets[1]?.anchors.map(({ x }) => x)).toEqual([820, 340, 1300]);
  });

  test("puts a postal code in the middle of its cells", () => {
    const { postalCodes } = makeGround(learn({ postal_codes: [name("218", row(0, 2)), name("", [])] }));
    expect(postalCodes).toEqual([{ name: "218", x: 60, y: 20 }]);
  });
});

function countCalls() {
  const calls: Record<string, number> = {};
  const texts: string[] = [];
  const context = new Proxy({} as CanvasRenderingContext2D, {
    get: (_target, method: string) => (text: unknown) => {
      calls[method] = (calls[method] ?? 0) + 1;
      if (method === "fillText") texts.push(String(text));
      return { width: 60 };
    },
    set: () => true,
  });
  return { calls, texts, context };
}

const GROUND = makeGround(
  learn({ streets: [name("Park Street", row(-20, 20))], postal_codes: [name("218", row(0, 2, 90))] }),
);
const SIZE = { width: 400, height: 300 };
const scene = (changes: object = {}) => ({
  viewport: { x: 0, y: 0, scale: 0.5 },
  size: SIZE,
  ratio: 1,
  scheme: "light" as const,
  ground: GROUND,
  backdrop: undefined,
  ...changes,
});

test("streets are drawn once for a scale, however often the map moves a little", () => {
  const screen = countCalls();
  const layer = countCalls();
  const groundLayer = new GroundLayer({ getContext: () => layer.context } as unknown as HTMLCanvasElement);
  const draw = (changes: object = {}) => groundLayer.draw(screen.context, scene(changes));
  for (let x = 0; x < 50; x += 1) draw({ viewport: { x, y: 0, scale: 0.5 } });
  expect(layer.calls.stroke).toBe(1);
  expect(screen.calls.drawImage).toBe(50);
  draw({ viewport: { x: 500, y: 0, scale: 0.5 } });
  expect(layer.calls.stroke).toBe(2);
  draw({ viewport: { x: 500, y: 0, scale: 0.52 } });
  draw({ viewport: { x: 500, y: 0, scale: 0.52 } });
  expect(layer.calls.stroke).toBe(3);
  draw({ viewport: { x: 500, y: 0, scale: 0.52 }, scheme: "dark" });
  expect(layer.calls.stroke).toBe(4);
});

test("names of places take only free room, and postal codes come with a larger scale", () => {
  const drawNames = (scale: number, isTaken: boolean) => {
    const { texts, context } = countCalls();
    const covered = isTaken ? [{ left: 50, top: 148, right: 350, bottom: 163 }] : [];
    const viewport = { x: 0, y: 10, scale };
    new Painter(context, { draw: () => {} }).paint({
      ...scene({ viewport }),
      placed: [],
      selected: undefined,
      picked: new Set(),
      hovered: undefined,
      covered,
    });
    return texts;
  };
  expect(drawNames(0.5, false)).toEqual(["Park Street", "218"]);
  expect(drawNames(0.5, true)).toEqual(["218"]);
  expect(drawNames(0.2, false)).toEqual(["Park Street"]);
  // The street is too short on the screen for its name.
  expect(drawNames(0.02, false)).toEqual([]);
});

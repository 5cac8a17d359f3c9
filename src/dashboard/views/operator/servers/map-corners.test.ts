// What an operator may type for the corners of a picture.
import { expect, test } from "bun:test";
import { guessCorners, parseCornerTexts, writeCorners } from "./map-image-form.tsx";

const CORNERS = { left: -10, top: -20, right: 30, bottom: 40 };

test("corners are whole numbers, left before right and top before bottom", () => {
  const texts = writeCorners(CORNERS);
  expect(parseCornerTexts(texts)).toEqual(CORNERS);
  expect(parseCornerTexts({ ...texts, left: " −10 " })).toEqual(CORNERS);
  for (const wrong of ["", "x", "1.5", "1e3", "100001", "--1"])
    expect(parseCornerTexts({ ...texts, top: wrong })).toEqual({ field: "top", reason: "number" });
  expect(parseCornerTexts({ ...texts, right: "-10" })).toEqual({ field: "right", reason: "order" });
  expect(parseCornerTexts({ ...texts, bottom: "-21" })).toEqual({ field: "bottom", reason: "order" });
});

test("the first guess is a square around the origin that shows every position that was seen", () => {
  const empty = { cell_size: 40, streets: [], postal_codes: [], image: null };
  expect(guessCorners(empty)).toEqual({ left: -1560, top: -1560, right: 1560, bottom: 1560 });
  const streets = [{ name: "Far Road", cells: [[12, -2003, 1]] }];
  expect(guessCorners({ ...empty, streets })).toEqual({ left: -2010, top: -2010, right: 2010, bottom: 2010 });
});

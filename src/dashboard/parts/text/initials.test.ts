import { expect, test } from "bun:test";
import { writeInitials } from "./initials.ts";

test("initials are the first letters of the first two words", () => {
  expect(writeInitials("Frosty_Otter341")).toBe("FO");
  expect(writeInitials("FrostyFalcon970")).toBe("FF");
  expect(writeInitials("cedar county state")).toBe("CC");
  expect(writeInitials("anna")).toBe("A");
  expect(writeInitials("анна Петрова")).toBe("АП");
});

test("a number is an initial only when there is no letter before it", () => {
  expect(writeInitials("Builder7")).toBe("B");
  expect(writeInitials("007")).toBe("0");
});

test("a name without letters has a mark, and marks and invisible characters are no initials", () => {
  for (const name of ["", "   ", "★★", "\u200b\u202e", "\u0301\u0301"]) expect(writeInitials(name)).toBe("?");
  expect(writeInitials("\u202eZ\u0301\u0302\u0303algo")).toBe("Z");
});

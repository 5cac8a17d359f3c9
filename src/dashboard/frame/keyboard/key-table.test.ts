import { describe, expect, test } from "bun:test";
import { SECTIONS } from "../../../core/sections.ts";
import type { Session } from "../../state/session/session.ts";
import { listViews } from "../view-list.ts";
import { isFindChord, type KeyPress, type KeyReading, readKeyPress, VIEW_LETTERS } from "./key-table.ts";

const VIEWS = namesFor({ kind: "caller", mayCommand: true, sections: SECTIONS, hide: [] });
const OPERATOR_VIEWS = [...namesFor({ kind: "admin" }), "me"];

function namesFor(session: Partial<Session>): readonly string[] {
  return listViews(session as Session, true).map(({ name }) => name);
}

function press(key: string, code: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  return { key, code, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...modifiers };
}

/** Reads keys one after the other, 100 ms apart. */
function type(presses: readonly KeyPress[], views: readonly string[] = VIEWS, stepMs = 100): KeyReading {
  return presses.reduce<KeyReading>(
    (reading, each, index) => readKeyPress(each, views, index * stepMs, reading.wentAt),
    {},
  );
}

const G = press("g", "KeyG");
const goTo = (name: string) => ({ action: { kind: "view", name } }) as const;

test("every view of a session has a letter of its own", () => {
  for (const views of [VIEWS, OPERATOR_VIEWS]) {
    const letters = views.map((view) => VIEW_LETTERS[view]);
    expect(letters).not.toContain(undefined);
    expect(new Set(letters).size).toBe(views.length);
  }
});

describe("g and a letter", () => {
  test("open a view of the session", () => {
    expect(type([G, press("p", "KeyP")])).toEqual(goTo("players"));
    expect(type([G, G])).toEqual(goTo("logs"));
    expect(type([G, press("s", "KeyS")])).toEqual(goTo("staff"));
    expect(type([G, press("s", "KeyS")], OPERATOR_VIEWS)).toEqual(goTo("servers"));
    expect(type([press("G", "KeyG"), press("P", "KeyP")])).toEqual(goTo("players"));
  });

  test("work by the place of the keys where the layout has no Latin letters", () => {
    expect(type([press("п", "KeyG"), press("з", "KeyP")])).toEqual(goTo("players"));
    // On a Latin layout the letter counts, wherever it is.
    expect(type([press("g", "KeyU"), press("p", "KeyR")])).toEqual(goTo("players"));
  });

  test("do nothing for other letters, for views without rights, and when the letter comes late", () => {
    expect(type([G, press("z", "KeyZ")])).toEqual({});
    expect(type([G, press("v", "KeyV")], OPERATOR_VIEWS)).toEqual({});
    expect(type([G, press("p", "KeyP")], VIEWS, 2_000)).toEqual({});
    expect(type([G, press("z", "KeyZ"), press("p", "KeyP")])).toEqual({});
    expect(type([press("p", "KeyP")])).toEqual({});
  });
});

describe("search and help", () => {
  test("work on every layout", () => {
    const search = { action: { kind: "search" } } as const;
    const help = { action: { kind: "help" } } as const;
    expect(type([press("/", "Slash")])).toEqual(search);
    expect(type([press("/", "Digit7", { shiftKey: true })])).toEqual(search);
    expect(type([press(".", "Slash")])).toEqual(search);
    expect(type([press("?", "Slash", { shiftKey: true })])).toEqual(help);
    expect(type([press("?", "Digit7", { shiftKey: true })])).toEqual(help);
    expect(type([press(",", "Slash", { shiftKey: true })])).toEqual(help);
  });

  test("are not other keys with the same signs", () => {
    expect(type([press(".", "Period")])).toEqual({});
    expect(type([press(",", "Comma")])).toEqual({});
    expect(type([press("Enter", "Enter")])).toEqual({});
  });
});

test("no key counts with a modifier", () => {
  for (const modifier of ["ctrlKey", "altKey", "metaKey"] as const) {
    for (const key of ["/", "?", "g"]) expect(type([press(key, "Slash", { [modifier]: true })])).toEqual({});
    expect(type([G, press("p", "KeyP", { [modifier]: true })])).toEqual({});
  }
  expect(type([press("G", "KeyG", { shiftKey: true })])).toEqual({});
});

test("Ctrl K and Command K find on every layout, and no other chord does", () => {
  const isFind = (key: string, code: string, modifiers: Partial<KeyPress>) => isFindChord(press(key, code, modifiers));
  expect(isFind("k", "KeyK", { ctrlKey: true })).toBe(true);
  expect(isFind("K", "KeyK", { metaKey: true })).toBe(true);
  expect(isFind("л", "KeyK", { ctrlKey: true })).toBe(true);
  expect(isFind("k", "KeyT", { ctrlKey: true })).toBe(true);
  expect(isFind("t", "KeyK", { ctrlKey: true })).toBe(false);
  expect(isFind("k", "KeyK", {})).toBe(false);
  expect(isFind("k", "KeyK", { ctrlKey: true, shiftKey: true })).toBe(false);
  expect(isFind("k", "KeyK", { ctrlKey: true, altKey: true })).toBe(false);
  expect(isFind("k", "KeyK", { ctrlKey: true, metaKey: true })).toBe(false);
});

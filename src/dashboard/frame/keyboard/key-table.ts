// The keys of the page, in one table, and the rules that read them. Pure. A key works on every layout: a Latin letter counts as
// itself, and elsewhere the place of the key on the keyboard counts.

/** The letter after `g` for each view. Letters differ among the views of one session. */
export const VIEW_LETTERS: Readonly<Record<string, string>> = {
  live: "l",
  map: "m",
  players: "p",
  staff: "s",
  vehicles: "v",
  calls: "c",
  logs: "g",
  activity: "a",
  plots: "t",
  commands: "d",
  overview: "o",
  servers: "s",
  keys: "k",
  blocks: "b",
  audit: "a",
  health: "h",
  webhooks: "w",
  people: "p",
  me: "u",
};

export const GO_KEY = "g";
export const SEARCH_KEY = "/";
export const HELP_KEY = "?";
/** With Ctrl, or with ⌘. */
export const FIND_KEY = "k";

/** How long `g` waits for its letter. */
const LETTER_WAIT_MS = 1_500;

/** What of a KeyboardEvent the rules look at. */
export type KeyPress = {
  readonly key: string;
  readonly code: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
};

export type KeyAction =
  | { readonly kind: "search" }
  | { readonly kind: "help" }
  | { readonly kind: "view"; readonly name: string };

export type KeyReading = {
  readonly action?: KeyAction;
  /** When `g` was pressed, while its letter is awaited. */
  readonly wentAt?: number;
};

/** `views` are the names of the views of the session; `wentAt` is that of the reading before. */
export function readKeyPress(
  press: KeyPress,
  views: readonly string[],
  now: number,
  wentAt: number | undefined,
): KeyReading {
  const sign = findSign(press);
  if (sign === undefined) return {};
  if (wentAt !== undefined && now - wentAt <= LETTER_WAIT_MS) {
    const name = views.find((view) => VIEW_LETTERS[view] === sign);
    return name === undefined ? {} : { action: { kind: "view", name } };
  }
  if (sign === GO_KEY) return { wentAt: now };
  if (sign === SEARCH_KEY) return { action: { kind: "search" } };
  return sign === HELP_KEY ? { action: { kind: "help" } } : {};
}

/** Ctrl K or ⌘K, which also works while somebody types and when the single keys are off. */
export function isFindChord({ key, code, shiftKey, ctrlKey, altKey, metaKey }: KeyPress): boolean {
  if (ctrlKey === metaKey || altKey || shiftKey) return false;
  return /^[a-z]$/i.test(key) ? key.toLowerCase() === FIND_KEY : code === "KeyK";
}

/** The letter or sign that a key stands for; undefined with a modifier. */
function findSign({ key, code, shiftKey, ctrlKey, altKey, metaKey }: KeyPress): string | undefined {
  if (ctrlKey || altKey || metaKey) return undefined;
  // Some layouts need Shift for the slash, and most for the question mark.
  if (key === SEARCH_KEY || key === HELP_KEY) return key;
  // The key of the slash on a Russian layout.
  if (code === "Slash" && key === ".") return SEARCH_KEY;
  if (code === "Slash" && key === ",") return HELP_KEY;
  if (shiftKey) return undefined;
  if (/^[a-z]$/i.test(key)) return key.toLowerCase();
  // A letter of another script.
  return /^\p{L}$/u.test(key) ? /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() : undefined;
}

/** Where a letter belongs to what has the focus, not to the page. */
const TAKES_KEYS = [
  "input:not([type=checkbox], [type=radio], [type=button])",
  "textarea",
  "select",
  "[contenteditable]:not([contenteditable=false])",
  "[role=combobox]",
  "[role=textbox]",
  "[role=listbox]",
  "[role=menu]",
  "[role=dialog]",
].join();

/** Whether the keys of the page are off: the focus takes them, or a dialog is open. */
export function areKeysTaken(target: Pick<Element, "closest"> | null, hasDialog: boolean): boolean {
  return hasDialog || Boolean(target?.closest(TAKES_KEYS));
}

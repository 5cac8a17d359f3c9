import { describe, expect, test } from "bun:test";
import { type SettingBrowser, StoredSetting } from "./stored-setting.ts";

const NAME = "gatehouse.test";

/** The tabs of one browser: a tab that stores something tells the others, as browsers do. */
class FakeBrowser {
  readonly stored = new Map<string, string>();
  isForbidden = false;
  isFull = false;
  readonly #tabs: EventTarget[] = [];

  openTab(): SettingBrowser {
    const events = new EventTarget();
    this.#tabs.push(events);
    return { openStorage: () => this.#openStorage(events), events };
  }

  tell(key: string | null, from?: EventTarget): void {
    for (const tab of this.#tabs) {
      if (tab !== from) tab.dispatchEvent(Object.assign(new Event("storage"), { key }));
    }
  }

  #openStorage(tab: EventTarget) {
    if (this.isForbidden) throw new Error("forbidden");
    return {
      getItem: (name: string) => this.stored.get(name) ?? null,
      setItem: (name: string, text: string) => {
        if (this.isFull) throw new Error("full");
        this.stored.set(name, text);
        this.tell(name, tab);
      },
      removeItem: (name: string) => {
        this.stored.delete(name);
        this.tell(name, tab);
      },
    };
  }
}

/** A list of words. */
function openSetting(browser: FakeBrowser): StoredSetting<readonly string[]> {
  return new StoredSetting<readonly string[]>(
    {
      name: NAME,
      parse: (text) => text?.split(" ") ?? [],
      write: (words) => (words.length === 0 ? undefined : words.join(" ")),
    },
    browser.openTab(),
  );
}

const add = (word: string) => (words: readonly string[]) => [...words, word];

describe("a stored setting", () => {
  test("is there again after the page was loaded anew", () => {
    const browser = new FakeBrowser();
    openSetting(browser).change(add("a"));
    expect(openSetting(browser).get()).toEqual(["a"]);
  });

  test("is not stored while it is what it was at first", () => {
    const browser = new FakeBrowser();
    const setting = openSetting(browser);
    setting.change(add("a"));
    setting.change(() => []);
    expect(browser.stored.size).toBe(0);
  });

  test("is told to those who subscribe until they leave", () => {
    const setting = openSetting(new FakeBrowser());
    const seen: (readonly string[])[] = [];
    const leave = setting.subscribe(() => seen.push(setting.get()));
    setting.change(add("a"));
    leave();
    setting.change(add("b"));
    expect(seen).toEqual([["a"]]);
  });

  test("follows other tabs, also when they delete everything", () => {
    const browser = new FakeBrowser();
    const [mine, other] = [openSetting(browser), openSetting(browser)];
    let told = 0;
    mine.subscribe(() => told++);
    other.change(add("a"));
    expect([mine.get(), told]).toEqual([["a"], 1]);
    browser.tell("gatehouse.other");
    expect(told).toBe(1);
    browser.stored.clear();
    browser.tell(null);
    expect([mine.get(), told]).toEqual([[], 2]);
  });

  test("keeps what another tab has stored, before this one was told of it", () => {
    const browser = new FakeBrowser();
    const setting = openSetting(browser);
    browser.stored.set(NAME, "a");
    setting.change(add("b"));
    expect(browser.stored.get(NAME)).toBe("a b");
  });

  test.each(["isForbidden", "isFull"] as const)("lasts until the page is closed when storage %s", (fault) => {
    const browser = new FakeBrowser();
    browser[fault] = true;
    const setting = openSetting(browser);
    expect(setting.get()).toEqual([]);
    setting.change(add("a"));
    setting.change(add("b"));
    expect(setting.get()).toEqual(["a", "b"]);
  });
});

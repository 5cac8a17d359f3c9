// A choice of the user that is kept in this browser, for every key, and shared by its tabs. It is no secret, so it is stored
// for longer than the tab.
import { useSyncExternalStore } from "react";

type StoredSettingParts<Value> = {
  /** The name in localStorage. */
  readonly name: string;
  /** Never throws. `text` may be anything: another page of this host, or the user, may have written it. */
  readonly parse: (text: string | null) => Value;
  /** Undefined stores nothing: the value is the one that is used at first. */
  readonly write: (value: Value) => string | undefined;
};

/** Where settings are kept. Merely naming localStorage throws where the browser forbids it. */
export type SettingBrowser = {
  readonly openStorage: () => Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly events: Pick<EventTarget, "addEventListener">;
};

const THIS_BROWSER: SettingBrowser = { openStorage: () => localStorage, events: globalThis };

export class StoredSetting<Value> {
  readonly #parts: StoredSettingParts<Value>;
  readonly #browser: SettingBrowser;
  readonly #listeners = new Set<() => void>();
  /** False once the storage was forbidden or full: the value then lasts until the page is closed. */
  #isStorable = true;
  #value: Value;

  constructor(parts: StoredSettingParts<Value>, browser = THIS_BROWSER) {
    this.#parts = parts;
    this.#browser = browser;
    this.#value = this.#read();
    browser.events.addEventListener("storage", (event) => this.#takeOver(event as StorageEvent));
  }

  /** The same object until the setting changes. */
  readonly get = (): Value => this.#value;

  /** Changes what is stored now, which another tab may have changed since this one read it. */
  change(update: (latest: Value) => Value): void {
    const value = update(this.#isStorable ? this.#read() : this.#value);
    this.#value = value;
    this.#store(this.#parts.write(value));
    this.#tell();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #read(): Value {
    const { name, parse } = this.#parts;
    let text: string | null = null;
    try {
      text = this.#browser.openStorage().getItem(name);
    } catch {
      this.#isStorable = false;
    }
    return parse(text);
  }

  #store(text: string | undefined): void {
    const { name } = this.#parts;
    try {
      const storage = this.#browser.openStorage();
      if (text === undefined) storage.removeItem(name);
      else storage.setItem(name, text);
    } catch {
      this.#isStorable = false;
    }
  }

  /** Another tab has changed the setting. */
  #takeOver({ key }: Pick<StorageEvent, "key">): void {
    // The key is null when everything was deleted.
    if (key !== this.#parts.name && key !== null) return;
    this.#value = this.#read();
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

export function useStoredSetting<Value>(setting: StoredSetting<Value>): Value {
  return useSyncExternalStore(setting.subscribe, setting.get);
}

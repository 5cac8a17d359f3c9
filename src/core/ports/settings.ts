// Named values for internal use.

export interface SettingStore {
  find(name: string): Promise<string | undefined>;
  save(name: string, value: string): Promise<void>;
  /** Saves the value unless the setting exists already. Returns the value that is stored afterwards. */
  saveIfAbsent(name: string, value: string): Promise<string>;
}

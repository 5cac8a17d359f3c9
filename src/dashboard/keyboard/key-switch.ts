// Whether the keys of the page work; they do at first. People whose speech input or assistive technology sends single letters
// switch them off.
import { StoredSetting, useStoredSetting } from "../state/stored-setting.ts";

const OFF = "off";

const setting = new StoredSetting<boolean>({
  name: "gatehouse.keyboard",
  parse: (text) => text !== OFF,
  write: (isOn) => (isOn ? undefined : OFF),
});

export function useKeysOn(): boolean {
  return useStoredSetting(setting);
}

export function switchKeys(isOn: boolean): void {
  setting.change(() => isOn);
}

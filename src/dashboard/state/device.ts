// Whether this browser is signed in as a device. The page cannot see the cookie, so it notes that there is one: in the tab when
// the device ends with the browser, for longer when it is remembered. Without a note nothing is asked.
import type { SessionResource } from "../../core/wire/session.ts";
import { endSession, renewSession } from "../api/session.ts";
import { DeviceToken, type GrantedToken } from "./device-token.ts";

const NOTE = "gatehouse.device";
/** Stands for the device among the saved keys. No key is so short. */
export const SAVED_DEVICE = "device";

export function noteDevice(deviceId: string, isRemembered: boolean): void {
  forgetDevice();
  withStorage(() => (isRemembered ? localStorage : sessionStorage).setItem(NOTE, deviceId));
}

export function isDeviceNoted(): boolean {
  return findNote() !== undefined;
}

/** With `deviceId` only that one: another tab may have signed this browser in anew. */
export function forgetDevice(deviceId = findNote()): void {
  if (deviceId !== findNote()) return;
  withStorage(() => sessionStorage.removeItem(NOTE));
  withStorage(() => localStorage.removeItem(NOTE));
}

/** Signs this device out. Nobody waits for the answer: the page has forgotten the device either way. */
export function endDevice(): void {
  if (!isDeviceNoted()) return;
  forgetDevice();
  void endSession();
}

/** Renews itself for as long as the device is signed in. */
export function createDeviceToken(session: SessionResource): DeviceToken {
  return new DeviceToken(toGranted(session), async () => {
    const outcome = await renewSession();
    return outcome.ok ? toGranted(outcome.value) : undefined;
  });
}

function toGranted({ token, key_id, expires_in }: SessionResource): GrantedToken {
  return { token, keyId: key_id, lifetimeMs: expires_in * 1000 };
}

function findNote(): string | undefined {
  return withStorage(() => sessionStorage.getItem(NOTE) ?? localStorage.getItem(NOTE)) ?? undefined;
}

function withStorage<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    // The browser forbids storage; the device is then signed in until the page is reloaded.
    return undefined;
  }
}

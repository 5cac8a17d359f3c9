// Signs devices in and out, and gives them session tokens. Only API keys can be remembered, never the master key.
import { type ApiKey, findForbidden } from "../../core/api-key.ts";
import { AttemptCounter } from "../../core/attempt-counter.ts";
import type { AttemptRule } from "../../core/attempt-limit.ts";
import { DAY_MS, HOUR_MS } from "../../core/durations.ts";
import { ERRORS, type Refusal, refuse, StoreUnavailable } from "../../core/errors.ts";
import type { Actor, AuditNote } from "../../core/ports/audit.ts";
import type { DeviceDraft, SignedInDevice } from "../../core/ports/devices.ts";
import type { Store } from "../../core/ports/store.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import { NO_SECTIONS } from "../../core/sections.ts";
import {
  hashToken,
  isDeviceSecret,
  isLinkSecret,
  mintDeviceSecret,
  mintLinkSecret,
  type RandomBytes,
  randomBase62,
} from "../../core/token.ts";
import { INVALID_TOKEN } from "./authenticate.ts";
import { refuseAttempt } from "./authenticate-operator.ts";
import { SESSION_TOKEN_MS, type SessionTokens } from "./session-tokens.ts";

export const REMEMBERED_MS = 30 * DAY_MS;
/** A device that is not to be remembered: its cookie goes with the browser, and it ends by itself. */
export const UNREMEMBERED_MS = 12 * HOUR_MS;
export const LINK_MS = 10 * 60_000;
const DEVICE_ID_LENGTH = 20;
/** So that a key's holder cannot fill the audit log. As many as a key can have, for a team that signs in at once. */
const NEW_DEVICES: AttemptRule = { max: 20, windowMs: HOUR_MS };
export const SIGNING_IN_KEYS_MAX = 10_000;

/** Who asks, as far as it is known. */
export type DeviceClient = { readonly address: string; readonly description: string };

export type OpenedSession = {
  readonly keyId: string;
  readonly deviceId: string;
  readonly token: string;
  readonly expiresAt: number;
  readonly deviceExpiresAt: number;
};

/** `secret` is for the device's cookie. */
export type NewSession = OpenedSession & { readonly secret: string };

export type DeviceSessionsParts = {
  readonly store: Pick<Store, "devices" | "keys" | "servers">;
  readonly tokens: SessionTokens;
  readonly randomBytes: RandomBytes;
};

export class DeviceSessions {
  readonly #parts: DeviceSessionsParts;
  /** The devices that each key has signed in. */
  readonly #signIns = new AttemptCounter(NEW_DEVICES, SIGNING_IN_KEYS_MAX);

  constructor(parts: DeviceSessionsParts) {
    this.#parts = parts;
  }

  /** How many keys have signed devices in lately. */
  get size(): number {
    return this.#signIns.size;
  }

  /** Remembers the device of a caller who has sent this token of `key`. */
  async remember(
    key: ApiKey,
    token: string,
    client: DeviceClient,
    now: number,
  ): Promise<NewSession | Refusal> {
    const tooMany = this.#judgeSignIn(key.keyId, now);
    if (tooMany) return tooMany;
    const { secret, draft } = this.#draft(key, REMEMBERED_MS, client, now);
    const note = noteOfSignIn(key.keyId, draft, "token", client, now);
    const isAdded = await this.#parts.store.devices.add(key.keyId, hashToken(token), draft, now, note);
    return isAdded ? { secret, ...this.#open(key.keyId, draft, now) } : INVALID_TOKEN;
  }

  /** Signs a device in with a one-time link. A key that may not be used leaves the link open. */
  async redeem(
    link: string,
    isRemembered: boolean,
    client: DeviceClient,
    now: number,
  ): Promise<NewSession | Refusal> {
    const { devices } = this.#parts.store;
    const linkHash = hashToken(link);
    const key = isLinkSecret(link) ? await devices.findLink(linkHash, now) : undefined;
    if (!key) return INVALID_TOKEN;
    const refusal = this.#findRefusal(key, client.address) ?? this.#judgeSignIn(key.keyId, now);
    if (refusal) return refusal;
    const forMs = isRemembered ? REMEMBERED_MS : UNREMEMBERED_MS;
    const { secret, draft } = this.#draft(key, forMs, client, now);
    const note = noteOfSignIn(key.keyId, draft, "link", client, now);
    const isRedeemed = await devices.redeemLink(linkHash, draft, now, note);
    return isRedeemed ? { secret, ...this.#open(key.keyId, draft, now) } : INVALID_TOKEN;
  }

  /** A new session token for a device. */
  async renew(secret: string, client: DeviceClient, now: number): Promise<OpenedSession | Refusal> {
    const device = await this.#find(secret, now);
    if (!device) return INVALID_TOKEN;
    const refusal = this.#findRefusal(device.key, client.address);
    if (refusal) return refusal;
    await this.#recordUse(device.deviceId, now);
    return this.#open(device.key.keyId, device, now);
  }

  /** Signs the device out. Nothing happens when the secret is none of a device. */
  async end(secret: string, client: DeviceClient, now: number): Promise<void> {
    const device = await this.#find(secret, now);
    if (!device) return;
    const { keyId } = device.key;
    const actor = { fingerprint: keyId, address: client.address };
    const details = { before: { device_id: device.deviceId } };
    const note = { at: now, action: "device.signed_out", actor, details };
    await this.#parts.store.devices.end(keyId, device.deviceId, now, note);
  }

  /** An operator ends a device. */
  async endForOperator(
    keyId: string,
    deviceId: string,
    actor: Actor,
    now: number,
  ): Promise<Refusal | undefined> {
    const { devices } = this.#parts.store;
    const device = (await devices.list(keyId, now)).find((one) => one.deviceId === deviceId);
    if (!device) return NOT_FOUND;
    const { description, createdAt } = device;
    const before = { device_id: deviceId, description, created_at: createdAt };
    const note = { at: now, action: "device.ended", actor, details: { before } };
    return (await devices.end(keyId, deviceId, now, note)) ? undefined : NOT_FOUND;
  }

  /** Makes a one-time link. Its secret is returned once and never stored. */
  async makeLink(
    keyId: string,
    actor: Actor,
    now: number,
  ): Promise<{ secret: string; expiresAt: number } | Refusal> {
    const { store, randomBytes } = this.#parts;
    const secret = mintLinkSecret(randomBytes);
    const expiresAt = now + LINK_MS;
    const note = { at: now, action: "link.created", actor, details: { after: { expires_at: expiresAt } } };
    if (await store.devices.addLink(keyId, { secretHash: hashToken(secret), expiresAt }, now, note))
      return { secret, expiresAt };
    const isKnown = (await store.keys.findDetails(keyId)) !== undefined;
    return isKnown ? refuse(ERRORS.conflict, { details: { key_id: "is revoked, and stays so" } }) : NOT_FOUND;
  }

  async #find(secret: string, now: number): Promise<SignedInDevice | undefined> {
    return isDeviceSecret(secret)
      ? this.#parts.store.devices.findBySecret(hashToken(secret), now)
      : undefined;
  }

  /** As for a read without sections: 5010, suspended, address. */
  #findRefusal(key: ApiKey, address: string): Refusal | undefined {
    const server = this.#parts.store.servers.find(key.serverId);
    if (!server) return INVALID_TOKEN;
    return findForbidden(key.grant, {
      version: "v2",
      community: undefined,
      serverCommunity: server.community,
      sections: NO_SECTIONS,
      address,
    });
  }

  #judgeSignIn(keyId: string, now: number): Refusal | undefined {
    const seconds = this.#signIns.count(keyId, now);
    return seconds === undefined ? undefined : refuseAttempt(seconds);
  }

  /** Never beyond the end of the key, nor that of an old token in its grace period. */
  #draft(key: ApiKey, forMs: number, { description }: DeviceClient, now: number) {
    const { randomBytes } = this.#parts;
    const secret = mintDeviceSecret(randomBytes);
    const draft: DeviceDraft = {
      deviceId: `dev_${randomBase62(DEVICE_ID_LENGTH, randomBytes)}`,
      secretHash: hashToken(secret),
      expiresAt: Math.min(now + forMs, key.expiresAt ?? Number.POSITIVE_INFINITY),
      description,
    };
    return { secret, draft };
  }

  #open(
    keyId: string,
    { deviceId, expiresAt: deviceExpiresAt }: Pick<SignedInDevice, "deviceId" | "expiresAt">,
    now: number,
  ): OpenedSession {
    const expiresAt = Math.min(now + SESSION_TOKEN_MS, deviceExpiresAt);
    const token = this.#parts.tokens.mint({ deviceId, expiresAt });
    return { keyId, deviceId, token, expiresAt, deviceExpiresAt };
  }

  /** A store that cannot be written, because its disk is full, still lets devices in. */
  async #recordUse(deviceId: string, now: number): Promise<void> {
    try {
      await this.#parts.store.devices.recordUse(deviceId, now);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

function noteOfSignIn(
  keyId: string,
  { deviceId, description, expiresAt }: DeviceDraft,
  by: "token" | "link",
  { address }: DeviceClient,
  now: number,
): AuditNote {
  const after = { device_id: deviceId, description, expires_at: expiresAt, signed_in_by: by };
  return {
    at: now,
    action: "device.signed_in",
    actor: { fingerprint: keyId, address },
    details: { after },
  };
}

// /admin/keys/:id/devices and /links: the devices that are signed in with a key, and one-time links to sign in another.
import { isRefusal } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { DeviceDetails } from "../../core/ports/devices.ts";
import type { Store } from "../../core/ports/store.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import type { DeviceList, DeviceResource, LinkResource } from "../../core/wire/session.ts";
import type { DeviceSessions } from "../../gateway/keys/device-sessions.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { pathIdOf } from "../parse-request.ts";
import { answerDone, answerOutcome } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

export type DeviceHandlersParts = {
  readonly store: Store;
  readonly sessions: DeviceSessions;
  readonly changes: Mutex;
  /** The address of our page for callers, without a slash at its end; empty when it is not known. */
  readonly findPageAddress: (call: Call) => string;
};

export class DeviceHandlers {
  readonly #parts: DeviceHandlersParts;

  constructor(parts: DeviceHandlersParts) {
    this.#parts = parts;
  }

  async list(call: Call): Promise<Response> {
    const { keys, devices } = this.#parts.store;
    const key = (await keys.findDetails(pathIdOf(call))) ?? NOT_FOUND;
    if (isRefusal(key)) return answerRefusal(call, key);
    const items = (await devices.list(key.keyId, call.now)).map(describeDevice);
    return answerJson({ items } satisfies DeviceList);
  }

  async end(call: Call, actor: Actor): Promise<Response> {
    const { sessions, changes } = this.#parts;
    const deviceId = call.target.params.device ?? "";
    const refusal = await changes.run(call, () =>
      sessions.endForOperator(pathIdOf(call), deviceId, actor, call.now),
    );
    return answerDone(call, refusal);
  }

  async makeLink(call: Call, actor: Actor): Promise<Response> {
    const { sessions, changes, findPageAddress } = this.#parts;
    const made = await changes.run(call, () => sessions.makeLink(pathIdOf(call), actor, call.now));
    return answerOutcome(
      call,
      made,
      // In the fragment, which no browser sends and no server logs.
      ({ secret, expiresAt }): LinkResource => ({
        url: `${findPageAddress(call)}/#/link/${secret}`,
        expires_at: expiresAt,
      }),
      201,
    );
  }
}

function describeDevice(device: DeviceDetails): DeviceResource {
  return {
    device_id: device.deviceId,
    created_at: device.createdAt,
    last_used_at: device.lastUsedAt,
    expires_at: device.expiresAt,
    description: device.description,
  };
}

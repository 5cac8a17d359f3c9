// For tests of the game's webhooks: a key pair, and requests that are signed with it.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export class HookSigner {
  /** Base64 of its SPKI form, for GATEHOUSE_GAME_PUBLIC_KEY. */
  readonly publicKey: string;
  readonly #privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    this.publicKey = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    this.#privateKey = privateKey;
  }

  /** The two headers for this body, sent at this time. */
  sign(body: string | Uint8Array, nowMs: number): Record<string, string> {
    const timestamp = String(Math.floor(nowMs / 1000));
    const signed = Buffer.concat([Buffer.from(timestamp), Buffer.from(body as string)]);
    return {
      "X-Signature-Ed25519": sign(null, signed, this.#privateKey).toString("hex"),
      "X-Signature-Timestamp": timestamp,
    };
  }
}

export function makeHookBody(server: string, ...events: object[]): string {
  return JSON.stringify({ server, events });
}

export function makeCommand(nowMs: number, command = "panic", argument = ""): object {
  return {
    event: "CustomCommand",
    timestamp: Math.floor(nowMs / 1000),
    origin: "913430532",
    data: { command, argument },
  };
}

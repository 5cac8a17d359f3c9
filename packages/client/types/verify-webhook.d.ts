import type { GameEvent } from "./game-event.ts";
import type { EventType } from "./wire-types.ts";
type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;
export type WebhookRequest = {
    /** `whsec_…`; several while you change from one to another. */
    readonly secret: string | readonly string[];
    /** Those of the request: a Headers object, or an object with lower-case names as Node has it. */
    readonly headers: {
        get(name: string): string | null;
    } | HeaderRecord;
    /** The body as it came, not parsed and not changed. */
    readonly body: string | Uint8Array | ArrayBuffer;
    /** How far the time of the message may be from now; 300 by default. */
    readonly toleranceSeconds?: number | undefined;
    /** Epoch milliseconds; the machine's clock by default. */
    readonly now?: number | undefined;
};
/** `type` tells what `data.data` is. `id` is the same when the message is sent again: handle it once. */
export type WebhookMessage = {
    readonly [T in EventType]: {
        readonly id: string;
        readonly type: T;
        readonly timestamp: string;
        readonly data: GameEvent<T>;
    };
}[EventType] | {
    readonly id: string;
    readonly type: "webhook.test";
    readonly timestamp: string;
    readonly data: {
        readonly webhook_id: string;
        readonly server_id: string;
    };
};
/**
 * Throws GatehouseError with code 5111 and status 401 for a message that is not from Gatehouse, or too old, and TypeError for
 * a bad secret or a body that was parsed.
 */
export declare function verifyWebhook(request: WebhookRequest): Promise<WebhookMessage>;
export {};

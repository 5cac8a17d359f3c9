// The handlers of the admin API, by subject. They read the request, call the gateway and write the answer.
import { ArchiveUnavailable, StoreUnavailable } from "../../core/errors.ts";
import type { PlayerForgetting } from "../../gateway/events/player-forgetting.ts";
import { AlertHandlers, type AlertHandlersParts } from "./alert-handlers.ts";
import { AuditHandlers } from "./audit-handlers.ts";
import { BlockHandlers } from "./block-handlers.ts";
import { AdminCommandHandlers, type AdminCommandParts } from "./command-handlers.ts";
import { DeviceHandlers, type DeviceHandlersParts } from "./device-handlers.ts";
import { KeyHandlers, type KeyHandlersParts } from "./key-handlers.ts";
import { Mutex } from "./mutex.ts";
import { PlayerHandlers } from "./player-handlers.ts";
import { ServerHandlers, type ServerHandlersParts } from "./server-handlers.ts";
import { UpstreamHandlers, type UpstreamHandlersParts } from "./upstream-handlers.ts";
import { WebhookHandlers, type WebhookHandlersParts } from "./webhook-handlers.ts";

export type AdminParts = Omit<
  ServerHandlersParts &
    KeyHandlersParts &
    DeviceHandlersParts &
    AdminCommandParts &
    WebhookHandlersParts &
    Pick<AlertHandlersParts, "alerts"> &
    Pick<UpstreamHandlersParts, "relay">,
  "changes"
> & { readonly forgetting: Pick<PlayerForgetting, "forget"> };

export class AdminHandlers {
  readonly servers: ServerHandlers;
  readonly keys: KeyHandlers;
  readonly devices: DeviceHandlers;
  readonly blocks: BlockHandlers;
  readonly commands: AdminCommandHandlers;
  readonly upstream: UpstreamHandlers;
  readonly players: PlayerHandlers;
  readonly webhooks: WebhookHandlers;
  readonly alerts: AlertHandlers;
  readonly audit: AuditHandlers;

  constructor(parts: AdminParts) {
    // One for all subjects of the store: a change reads before it writes.
    const changes = new Mutex(StoreUnavailable);
    // Webhooks and alerts are in the archive, which may be away while the store is not.
    const archiveChanges = new Mutex(ArchiveUnavailable);
    this.servers = new ServerHandlers({ ...parts, changes });
    this.keys = new KeyHandlers({ ...parts, changes });
    this.devices = new DeviceHandlers({ ...parts, changes });
    this.blocks = new BlockHandlers({ ...parts, changes });
    this.commands = new AdminCommandHandlers({ ...parts, changes });
    this.upstream = new UpstreamHandlers({ relay: parts.relay, settings: parts.store.settings, changes });
    this.players = new PlayerHandlers(parts.forgetting);
    this.webhooks = new WebhookHandlers({ ...parts, changes: archiveChanges });
    this.alerts = new AlertHandlers({
      servers: parts.store.servers,
      alerts: parts.alerts,
      changes: archiveChanges,
    });
    this.audit = new AuditHandlers(parts.store.audit, parts.pages);
  }
}

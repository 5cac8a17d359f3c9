// The admin API, as the holder of the master key sees it. docs/admin-api.md has what each field means.
import type { CommandStatus } from "../../core/command.ts";
import type { AuditEntryResource } from "../../core/wire/audit.ts";
import type { BlockResource } from "../../core/wire/block.ts";
import type { OwnedCommandResource } from "../../core/wire/command.ts";
import type { Readiness } from "../../core/wire/health.ts";
import type {
  KeyResource,
  KeyUpdate,
  KeyWithToken,
  KeyWithUsage,
  NewKey,
  RotatedKey,
  Rotation,
} from "../../core/wire/key.ts";
import type { PageOf, PageQuery } from "../../core/wire/page.ts";
import type {
  DeletedServerResource,
  NewServer,
  ServerChange,
  ServerResource,
} from "../../core/wire/server.ts";
import type { Ask } from "./request.ts";

export type AdminApi = ReturnType<typeof createAdminApi>;

export function createAdminApi(ask: Ask) {
  const at = (collection: string, id: string) => `/admin/${collection}/${encodeURIComponent(id)}`;
  return {
    listServers: (query: PageQuery = {}) => ask<PageOf<ServerResource>>("/admin/servers", { query }),
    createServer: (body: NewServer) => ask<ServerResource>("/admin/servers", { method: "POST", body }),
    showServer: (id: string) => ask<ServerResource>(at("servers", id)),
    changeServer: (id: string, body: ServerChange) =>
      ask<ServerResource>(at("servers", id), { method: "PATCH", body }),
    deleteServer: (id: string) => ask<DeletedServerResource>(at("servers", id), { method: "DELETE" }),

    listKeys: (query: PageQuery & { readonly server_id?: string } = {}) =>
      ask<PageOf<KeyResource>>("/admin/keys", { query }),
    createKey: (body: NewKey) => ask<KeyWithToken>("/admin/keys", { method: "POST", body }),
    showKey: (id: string) => ask<KeyWithUsage>(at("keys", id)),
    changeKey: (id: string, body: KeyUpdate) => ask<KeyResource>(at("keys", id), { method: "PATCH", body }),
    revokeKey: (id: string) => ask<undefined>(at("keys", id), { method: "DELETE" }),
    rotateKey: (id: string, body: Rotation = {}) =>
      ask<RotatedKey>(`${at("keys", id)}/rotate`, { method: "POST", body }),

    listBlocks: (query: PageQuery = {}) => ask<PageOf<BlockResource>>("/admin/blocks", { query }),
    liftBlock: (keyId: string) => ask<undefined>(at("blocks", keyId), { method: "DELETE" }),

    listCommands: (
      query: PageQuery & { readonly server_id?: string; readonly status?: CommandStatus } = {},
    ) => ask<PageOf<OwnedCommandResource>>("/admin/commands", { query }),
    cancelCommand: (id: string) => ask<OwnedCommandResource>(at("commands", id), { method: "DELETE" }),
    listAudit: (query: PageQuery = {}) => ask<PageOf<AuditEntryResource>>("/admin/audit", { query }),

    readReadiness: () => ask<Readiness>("/readyz"),
    /** Prometheus text; `parseMetrics` takes it apart. */
    readMetrics: () => ask<string>("/metrics", { asText: true }),
  };
}

// The admin API, as the holder of the master key sees it. docs/admin-api.md has what each field means.
import type { Version } from "../../core/api-key.ts";
import type { CommandStatus } from "../../core/command.ts";
import type { Section } from "../../core/sections.ts";
import type { CommandReport, Page, PageQuery } from "./caller.ts";
import type { Ask } from "./request.ts";

export type ServerResource = {
  readonly server_id: string;
  readonly name: string;
  readonly community: string | null;
  readonly created_at: number;
};

export type ServerDraft = {
  readonly name: string;
  readonly server_key: string;
  readonly community?: string | null;
};

export type KeyRights = {
  readonly versions: readonly Version[];
  readonly sections: readonly Section[];
  readonly commands: readonly string[];
  readonly ip_allow: readonly string[];
  readonly expires_at: number | null;
};

export type KeyResource = KeyRights & {
  readonly key_id: string;
  readonly server_id: string;
  readonly label: string;
  readonly suspended: boolean;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
};

export type KeyDraft = Partial<KeyRights> & { readonly server_id: string; readonly label: string };
export type KeyChange = Partial<KeyRights> & { readonly label?: string; readonly suspended?: boolean };

export type UsageCount = {
  readonly requests: number;
  readonly refusals: Readonly<Record<string, number>>;
};
export type KeyUsage = UsageCount & { readonly hours: readonly (UsageCount & { readonly hour: number })[] };

/** Whose key it is is null when the key has gone since. */
export type BlockResource = {
  readonly key_id: string;
  readonly server_id: string | null;
  readonly label: string | null;
  readonly blocked_until: number;
};

export type OwnedCommand = CommandReport & { readonly server_id: string; readonly key_id: string };

export type AuditEntry = {
  readonly id: string;
  readonly at: number;
  readonly action: string;
  readonly actor: { readonly fingerprint: string; readonly address: string };
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
};

export type Readiness = { readonly status: string; readonly notices: readonly string[] };

export type AdminApi = ReturnType<typeof createAdminApi>;

export function createAdminApi(ask: Ask) {
  const at = (collection: string, id: string) => `/admin/${collection}/${encodeURIComponent(id)}`;
  return {
    listServers: (query: PageQuery = {}) => ask<Page<ServerResource>>("/admin/servers", { query }),
    createServer: (body: ServerDraft) => ask<ServerResource>("/admin/servers", { method: "POST", body }),
    showServer: (id: string) => ask<ServerResource>(at("servers", id)),
    changeServer: (id: string, body: Partial<ServerDraft>) =>
      ask<ServerResource>(at("servers", id), { method: "PATCH", body }),
    deleteServer: (id: string) =>
      ask<{ revoked_keys: number; failed_commands: number }>(at("servers", id), { method: "DELETE" }),

    listKeys: (query: PageQuery & { readonly server_id?: string } = {}) =>
      ask<Page<KeyResource>>("/admin/keys", { query }),
    createKey: (body: KeyDraft) =>
      ask<KeyResource & { readonly token: string }>("/admin/keys", { method: "POST", body }),
    showKey: (id: string) => ask<KeyResource & { readonly usage: KeyUsage }>(at("keys", id)),
    changeKey: (id: string, body: KeyChange) => ask<KeyResource>(at("keys", id), { method: "PATCH", body }),
    revokeKey: (id: string) => ask<undefined>(at("keys", id), { method: "DELETE" }),
    rotateKey: (id: string, body: { readonly grace_seconds?: number } = {}) =>
      ask<{ key_id: string; token: string; old_token_valid_until: number | null }>(
        `${at("keys", id)}/rotate`,
        { method: "POST", body },
      ),

    listBlocks: (query: PageQuery = {}) => ask<Page<BlockResource>>("/admin/blocks", { query }),
    liftBlock: (keyId: string) => ask<undefined>(at("blocks", keyId), { method: "DELETE" }),

    listCommands: (
      query: PageQuery & { readonly server_id?: string; readonly status?: CommandStatus } = {},
    ) => ask<Page<OwnedCommand>>("/admin/commands", { query }),
    cancelCommand: (id: string) => ask<OwnedCommand>(at("commands", id), { method: "DELETE" }),
    listAudit: (query: PageQuery = {}) => ask<Page<AuditEntry>>("/admin/audit", { query }),

    readReadiness: () => ask<Readiness>("/readyz"),
    /** Prometheus text; `parseMetrics` takes it apart. */
    readMetrics: () => ask<string>("/metrics", { asText: true }),
  };
}

// The client of the admin API, for the holder of the master key. docs/admin-api.md explains the fields.
import type { Version } from "../../core/api-key.ts";
import type { CommandStatus } from "../../core/command.ts";
import type { Section } from "../../core/sections.ts";
import type { CommandReport, Page, PageQuery } from "./caller.ts";
import type { ApiCall } from "./request.ts";

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

export function createAdminApi(call: ApiCall) {
  const at = (collection: string, id: string) => `/admin/${collection}/${encodeURIComponent(id)}`;
  return {
    listServers: (query: PageQuery = {}) => call<Page<ServerResource>>("/admin/servers", { query }),
    createServer: (body: ServerDraft) => call<ServerResource>("/admin/servers", { method: "POST", body }),
    showServer: (id: string) => call<ServerResource>(at("servers", id)),
    changeServer: (id: string, body: Partial<ServerDraft>) =>
      call<ServerResource>(at("servers", id), { method: "PATCH", body }),
    deleteServer: (id: string) =>
      call<{ revoked_keys: number; failed_commands: number }>(at("servers", id), { method: "DELETE" }),

    listKeys: (query: PageQuery & { readonly server_id?: string } = {}) =>
      call<Page<KeyResource>>("/admin/keys", { query }),
    createKey: (body: KeyDraft) =>
      call<KeyResource & { readonly token: string }>("/admin/keys", { method: "POST", body }),
    showKey: (id: string) => call<KeyResource & { readonly usage: KeyUsage }>(at("keys", id)),
    changeKey: (id: string, body: KeyChange) => call<KeyResource>(at("keys", id), { method: "PATCH", body }),
    revokeKey: (id: string) => call<undefined>(at("keys", id), { method: "DELETE" }),
    rotateKey: (id: string, body: { readonly grace_seconds?: number } = {}) =>
      call<{ key_id: string; token: string; old_token_valid_until: number | null }>(
        `${at("keys", id)}/rotate`,
        { method: "POST", body },
      ),

    listBlocks: (query: PageQuery = {}) => call<Page<BlockResource>>("/admin/blocks", { query }),
    liftBlock: (keyId: string) => call<undefined>(at("blocks", keyId), { method: "DELETE" }),

    listCommands: (
      query: PageQuery & { readonly server_id?: string; readonly status?: CommandStatus } = {},
    ) => call<Page<OwnedCommand>>("/admin/commands", { query }),
    cancelCommand: (id: string) => call<OwnedCommand>(at("commands", id), { method: "DELETE" }),
    listAudit: (query: PageQuery = {}) => call<Page<AuditEntry>>("/admin/audit", { query }),

    readReadiness: () => call<Readiness>("/readyz"),
    /** Prometheus text, for `parseMetrics`. */
    readMetrics: () => call<string>("/metrics", { asText: true }),
  };
}

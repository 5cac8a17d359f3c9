// The client of the admin API, for the holder of the master key and for people. /docs has its reference.
import type { CommandStatus } from "../../core/commands/command.ts";
import type { KeyState } from "../../core/keys/key-state.ts";
import type { MapCorners } from "../../core/maps/map-image.ts";
import type { Section } from "../../core/sections.ts";
import type { AlertRulesResource } from "../../core/wire/alerts.ts";
import type { AuditEntryResource } from "../../core/wire/audit.ts";
import type { OwnedCommandResource } from "../../core/wire/command.ts";
import type { EventPage } from "../../core/wire/event.ts";
import type { GameMapResource, MapImageResource } from "../../core/wire/game-map.ts";
import type { Readiness } from "../../core/wire/health.ts";
import type { PresentHistory } from "../../core/wire/history.ts";
import type {
  BlockResource,
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
  InvitationResource,
  NewPerson,
  NewRole,
  PersonResource,
  PersonSessionList,
  PersonUpdate,
  PersonWithUsage,
  RoleResource,
} from "../../core/wire/people.ts";
import type { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../../core/wire/server.ts";
import type { UpstreamResource } from "../../core/wire/upstream.ts";
import type {
  DeliveryPage,
  NewWebhook,
  Redelivery,
  RotatedWebhook,
  WebhookResource,
  WebhookTestResult,
  WebhookUpdate,
  WebhookWithSecret,
} from "../../core/wire/webhook.ts";
import type { EventQuery, HistoryAnswers, HistoryQuery, ServerState } from "./caller.ts";
import type { ApiCall } from "./request.ts";

/** `from` and `to` are epoch milliseconds. */
export type AuditQuery = {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly from?: number;
  readonly to?: number;
  readonly query?: string;
};
export type AuditFormat = "csv" | "jsonl";

/** The path of the stream of a server's events. */
export function eventStreamOf(serverId: string): string {
  return `/admin/servers/${encodeURIComponent(serverId)}/events/stream`;
}

export type AdminApi = ReturnType<typeof createAdminApi>;

export function createAdminApi(call: ApiCall) {
  const at = (collection: string, id: string) => `/admin/${collection}/${encodeURIComponent(id)}`;
  return {
    listServers: (query: PageQuery & { readonly day?: boolean } = {}) =>
      call<PageOf<ServerResource>>("/admin/servers", { query }),
    createServer: (body: NewServer) => call<ServerResource>("/admin/servers", { method: "POST", body }),
    showServer: (id: string) => call<ServerResource>(at("servers", id)),
    changeServer: (id: string, body: ServerChange) =>
      call<ServerResource>(at("servers", id), { method: "PATCH", body }),
    /** The state of the server, as its callers get it. */
    readServerInfo: (id: string, sections: readonly Section[], etag?: string, signal?: AbortSignal) =>
      call<ServerState>(`${at("servers", id)}/info`, {
        query: Object.fromEntries(sections.map((name) => [name, true])),
        ...(etag !== undefined && { headers: { "If-None-Match": etag } }),
        ...(signal && { signal }),
      }),
    /** The events of the server, as its callers get them. */
    readServerEvents: (id: string, query: EventQuery, signal?: AbortSignal) =>
      call<EventPage>(`${at("servers", id)}/events`, { query, ...(signal && { signal }) }),
    /** The past of the server, as its callers get it. */
    readServerHistory: <Q extends keyof HistoryAnswers>(
      id: string,
      question: Q,
      query: HistoryQuery,
      signal?: AbortSignal,
    ) => call<HistoryAnswers[Q]>(`${at("servers", id)}/history/${question}`, { query, ...(signal && { signal }) }),
    readServerPresent: (id: string, moment: number, signal?: AbortSignal) =>
      call<PresentHistory>(`${at("servers", id)}/history/present`, {
        query: { at: moment },
        ...(signal && { signal }),
      }),
    showAlerts: (id: string) => call<AlertRulesResource>(`${at("servers", id)}/alerts`),
    setAlerts: (id: string, body: AlertRulesResource) =>
      call<AlertRulesResource>(`${at("servers", id)}/alerts`, { method: "PUT", body }),
    readServerMap: (id: string, signal?: AbortSignal) =>
      call<GameMapResource>(`${at("servers", id)}/map`, { ...(signal && { signal }) }),
    readMapImage: (id: string, signal?: AbortSignal) =>
      call<Blob>(`${at("servers", id)}/map-image`, { asFile: true, ...(signal && { signal }) }),
    setMapImage: (id: string, file: Blob, { left, top, right, bottom }: MapCorners) =>
      call<MapImageResource>(`${at("servers", id)}/map-image`, {
        method: "PUT",
        query: { left, top, right, bottom },
        body: file,
      }),
    removeMapImage: (id: string) => call<undefined>(`${at("servers", id)}/map-image`, { method: "DELETE" }),
    deleteServer: (id: string) => call<DeletedServerResource>(at("servers", id), { method: "DELETE" }),

    listKeys: (
      query: PageQuery & { readonly server_id?: string; readonly label?: string; readonly state?: KeyState } = {},
    ) => call<PageOf<KeyResource>>("/admin/keys", { query }),
    createKey: (body: NewKey) => call<KeyWithToken>("/admin/keys", { method: "POST", body }),
    showKey: (id: string) => call<KeyWithUsage>(at("keys", id)),
    changeKey: (id: string, body: KeyUpdate) => call<KeyResource>(at("keys", id), { method: "PATCH", body }),
    revokeKey: (id: string) => call<undefined>(at("keys", id), { method: "DELETE" }),
    rotateKey: (id: string, body: Rotation = {}) =>
      call<RotatedKey>(`${at("keys", id)}/rotate`, { method: "POST", body }),

    listPeople: (query: PageQuery & { readonly server_id?: string; readonly name?: string } = {}) =>
      call<PageOf<PersonResource>>("/admin/people", { query }),
    createPerson: (body: NewPerson) => call<PersonResource>("/admin/people", { method: "POST", body }),
    showPerson: (id: string) => call<PersonWithUsage>(at("people", id)),
    changePerson: (id: string, body: PersonUpdate) => call<PersonResource>(at("people", id), { method: "PATCH", body }),
    deletePerson: (id: string) => call<undefined>(at("people", id), { method: "DELETE" }),
    invitePerson: (id: string) => call<InvitationResource>(`${at("people", id)}/invitations`, { method: "POST" }),
    listSessions: (id: string) => call<PersonSessionList>(`${at("people", id)}/sessions`),
    /** All sessions without `sessionId`. */
    endSession: (id: string, sessionId = "") =>
      call<undefined>(`${at("people", id)}/sessions${sessionId && `/${encodeURIComponent(sessionId)}`}`, {
        method: "DELETE",
      }),
    deletePasskeys: (id: string) => call<undefined>(`${at("people", id)}/passkeys`, { method: "DELETE" }),

    listRoles: () => call<{ readonly items: readonly RoleResource[] }>("/admin/roles"),
    setRole: (name: string, body: NewRole) => call<RoleResource>(at("roles", name), { method: "PUT", body }),
    deleteRole: (name: string) => call<undefined>(at("roles", name), { method: "DELETE" }),

    listBlocks: (query: PageQuery = {}) => call<PageOf<BlockResource>>("/admin/blocks", { query }),
    liftBlock: (keyId: string) => call<undefined>(at("blocks", keyId), { method: "DELETE" }),

    listCommands: (query: PageQuery & { readonly server_id?: string; readonly status?: CommandStatus } = {}) =>
      call<PageOf<OwnedCommandResource>>("/admin/commands", { query }),
    cancelCommand: (id: string) => call<OwnedCommandResource>(at("commands", id), { method: "DELETE" }),

    listWebhooks: (query: PageQuery & { readonly server_id?: string } = {}) =>
      call<PageOf<WebhookResource>>("/admin/webhooks", { query }),
    createWebhook: (body: NewWebhook) => call<WebhookWithSecret>("/admin/webhooks", { method: "POST", body }),
    showWebhook: (id: string) => call<WebhookResource>(at("webhooks", id)),
    changeWebhook: (id: string, body: WebhookUpdate) =>
      call<WebhookResource>(at("webhooks", id), { method: "PATCH", body }),
    deleteWebhook: (id: string) => call<undefined>(at("webhooks", id), { method: "DELETE" }),
    rotateWebhook: (id: string) => call<RotatedWebhook>(`${at("webhooks", id)}/rotate`, { method: "POST" }),
    testWebhook: (id: string) => call<WebhookTestResult>(`${at("webhooks", id)}/test`, { method: "POST" }),
    redeliver: (id: string, body: Redelivery) =>
      call<WebhookResource>(`${at("webhooks", id)}/redeliver`, { method: "POST", body }),
    listDeliveries: (id: string) => call<DeliveryPage>(`${at("webhooks", id)}/deliveries`),

    listAudit: (query: PageQuery & AuditQuery = {}) => call<PageOf<AuditEntryResource>>("/admin/audit", { query }),
    exportAudit: (format: AuditFormat, query: AuditQuery) =>
      call<Blob>("/admin/audit/export", { query: { ...query, format }, asFile: true }),

    resumeUpstream: () => call<UpstreamResource>("/admin/upstream/resume", { method: "POST" }),

    readReadiness: () => call<Readiness>("/readyz"),
    /** Prometheus text. */
    readMetrics: () => call<string>("/metrics", { asText: true }),
  };
}

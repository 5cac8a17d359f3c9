// The client of the admin API, for the holder of the master key. docs/admin-api.md explains the fields.

import type { CommandStatus } from "../../core/command.ts";
import type { HistoryQuestion } from "../../core/history/history-questions.ts";
import type { KeyState } from "../../core/key-state.ts";
import type { MapCorners } from "../../core/map-image.ts";
import type { Section } from "../../core/sections.ts";
import type { AlertRulesResource } from "../../core/wire/alerts.ts";
import type { AuditEntryResource } from "../../core/wire/audit.ts";
import type { BlockResource } from "../../core/wire/block.ts";
import type { OwnedCommandResource } from "../../core/wire/command.ts";
import type { EventPage } from "../../core/wire/event.ts";
import type { GameMapResource, MapImageResource } from "../../core/wire/game-map.ts";
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
import type { DeviceList, LinkResource } from "../../core/wire/session.ts";
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
import type { ServerState } from "./caller.ts";
import type { HistoryAnswers, HistoryQuery } from "./history.ts";
import type { EventQuery } from "./ledger.ts";
import type { ApiCall } from "./request.ts";

/** The path of the stream of a server's events. */
export function eventStreamOf(serverId: string): string {
  return `/admin/servers/${encodeURIComponent(serverId)}/events/stream`;
}

export type AdminApi = ReturnType<typeof createAdminApi>;

export function createAdminApi(call: ApiCall) {
  const at = (collection: string, id: string) => `/admin/${collection}/${encodeURIComponent(id)}`;
  return {
    listServers: (query: PageQuery = {}) => call<PageOf<ServerResource>>("/admin/servers", { query }),
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
    readServerHistory: <Q extends HistoryQuestion>(
      id: string,
      question: Q,
      query: HistoryQuery,
      signal?: AbortSignal,
    ) =>
      call<HistoryAnswers[Q]>(`${at("servers", id)}/history/${question}`, {
        query,
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
      query: PageQuery & {
        readonly server_id?: string;
        readonly label?: string;
        readonly state?: KeyState;
      } = {},
    ) => call<PageOf<KeyResource>>("/admin/keys", { query }),
    createKey: (body: NewKey) => call<KeyWithToken>("/admin/keys", { method: "POST", body }),
    showKey: (id: string) => call<KeyWithUsage>(at("keys", id)),
    changeKey: (id: string, body: KeyUpdate) => call<KeyResource>(at("keys", id), { method: "PATCH", body }),
    revokeKey: (id: string) => call<undefined>(at("keys", id), { method: "DELETE" }),
    rotateKey: (id: string, body: Rotation = {}) =>
      call<RotatedKey>(`${at("keys", id)}/rotate`, { method: "POST", body }),

    listDevices: (keyId: string) => call<DeviceList>(`${at("keys", keyId)}/devices`),
    endDevice: (keyId: string, deviceId: string) =>
      call<undefined>(`${at("keys", keyId)}/devices/${encodeURIComponent(deviceId)}`, { method: "DELETE" }),
    makeLink: (keyId: string) => call<LinkResource>(`${at("keys", keyId)}/links`, { method: "POST" }),

    listBlocks: (query: PageQuery = {}) => call<PageOf<BlockResource>>("/admin/blocks", { query }),
    liftBlock: (keyId: string) => call<undefined>(at("blocks", keyId), { method: "DELETE" }),

    listCommands: (
      query: PageQuery & { readonly server_id?: string; readonly status?: CommandStatus } = {},
    ) => call<PageOf<OwnedCommandResource>>("/admin/commands", { query }),
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

    listAudit: (query: PageQuery = {}) => call<PageOf<AuditEntryResource>>("/admin/audit", { query }),

    readReadiness: () => call<Readiness>("/readyz"),
    /** Prometheus text, for `parseMetrics`. */
    readMetrics: () => call<string>("/metrics", { asText: true }),
  };
}

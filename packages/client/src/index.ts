// What the package exports.
export type {
  CommandHandle,
  Commands,
  FinalStatus,
  ListOptions,
  SendOptions,
  SettledCommand,
  SettledOptions,
} from "./commands.ts";
export type { EventStream, StreamOptions } from "./event-stream.ts";
export { parseExactJson } from "./exact-json.ts";
export type { EventData, EventPattern, GameEvent, MatchedType } from "./game-event.ts";
export { type EventListOptions, type EventsOptions, Gatehouse, type ListedEvents } from "./gatehouse.ts";
export { GatehouseError } from "./gatehouse-error.ts";
export type { History, HistoryPageOptions, PeriodOptions } from "./history.ts";
export { type PageReader, pages } from "./pages.ts";
export { type ModCallListOptions, type ModCalls, type PlayerSearchOptions, type Players, player } from "./players.ts";
export type { IncludeOptions, Server, ServerInfo, ServerReading } from "./server.ts";
export type { CallOptions, Fetch, GatehouseOptions, LimitState } from "./transport.ts";
export { verifyWebhook, type WebhookMessage, type WebhookRequest } from "./verify-webhook.ts";
export type * from "./wire-types.ts";

// The named schemas of the document. Each is written once; everywhere else there is a reference to it.
import type Type from "typebox";
import { ERRORS } from "../../core/errors.ts";
import { AlertRulesResource } from "../../core/wire/alerts.ts";
import { AuditEntryResource } from "../../core/wire/audit.ts";
import { BlockResource } from "../../core/wire/block.ts";
import {
  CommandReceipt,
  CommandResource,
  NewCommand,
  OwnedCommandResource,
} from "../../core/wire/command.ts";
import { type ErrorName, schemaOfError } from "../../core/wire/error.ts";
import { EventPage, EventResource } from "../../core/wire/event.ts";
import { GameMapResource, MapImageResource } from "../../core/wire/game-map.ts";
import {
  PeaksResource,
  SessionResource as PlayerSessionResource,
  PlayersHistory,
  PlayersPoint,
  PlaytimePage,
  PlaytimeResource,
  SessionPage,
  StaffPage,
  StaffResource,
} from "../../core/wire/history.ts";
import {
  KeyResource,
  KeyUpdate,
  KeyWithToken,
  KeyWithUsage,
  NewKey,
  RotatedKey,
  Rotation,
  UsageResource,
} from "../../core/wire/key.ts";
import { OwnKeyResource } from "../../core/wire/own-key.ts";
import { DeletedServerResource, NewServer, ServerChange, ServerResource } from "../../core/wire/server.ts";
import { SectionSchemas, ServerInfo } from "../../core/wire/server-info.ts";
import {
  DeviceList,
  DeviceResource,
  LinkResource,
  LinkSignIn,
  SessionResource,
} from "../../core/wire/session.ts";
import {
  DeliveryPage,
  DeliveryResource,
  NewWebhook,
  Redelivery,
  RotatedWebhook,
  WebhookResource,
  WebhookTestResult,
  WebhookUpdate,
  WebhookWithSecret,
} from "../../core/wire/webhook.ts";

const { Players, Staff, JoinLogs, KillLogs, CommandLogs, ModCalls, EmergencyCalls, Vehicles } =
  SectionSchemas;

const NAMED: Readonly<Record<string, Type.TSchema>> = {
  ServerInfo,
  Player: Players.items,
  Location: Players.items.properties.Location,
  Staff,
  StaffMap: Staff.properties.Admins,
  JoinLog: JoinLogs.items,
  KillLog: KillLogs.items,
  CommandLog: CommandLogs.items,
  ModCall: ModCalls.items,
  EmergencyCall: EmergencyCalls.items,
  Vehicle: Vehicles.items,
  OwnKey: OwnKeyResource,
  Event: EventResource,
  EventPage,
  PlayersHistory,
  PlayersPoint,
  PlayerSession: PlayerSessionResource,
  PlayerSessionPage: SessionPage,
  Playtime: PlaytimeResource,
  PlaytimePage,
  StaffActivity: StaffResource,
  StaffActivityPage: StaffPage,
  Peaks: PeaksResource,
  GameMap: GameMapResource,
  MapImage: MapImageResource,
  NewCommand,
  CommandReceipt,
  Command: CommandResource,
  OwnedCommand: OwnedCommandResource,
  NewServer,
  ServerChange,
  Server: ServerResource,
  DeletedServer: DeletedServerResource,
  NewKey,
  KeyUpdate,
  Key: KeyResource,
  KeyWithToken: KeyWithToken,
  KeyWithUsage: KeyWithUsage,
  Usage: UsageResource,
  Rotation,
  RotatedKey: RotatedKey,
  Session: SessionResource,
  LinkSignIn,
  Device: DeviceResource,
  DeviceList,
  Link: LinkResource,
  AlertRules: AlertRulesResource,
  NewWebhook,
  WebhookUpdate,
  Webhook: WebhookResource,
  WebhookWithSecret,
  RotatedWebhook,
  Redelivery,
  WebhookTestResult,
  Delivery: DeliveryResource,
  DeliveryPage,
  Block: BlockResource,
  AuditEntry: AuditEntryResource,
  ...Object.fromEntries(
    (Object.keys(ERRORS) as ErrorName[]).map((name) => [nameOfError(name), schemaOfError(name)]),
  ),
};

/** Collects the named schemas that a document refers to. */
export class Schemas {
  readonly #names = new Map(Object.entries(NAMED).map(([name, schema]) => [JSON.stringify(schema), name]));
  readonly #named: Record<string, unknown> = {};

  /** The schemas that were referred to. */
  get named(): Readonly<Record<string, unknown>> {
    return this.#named;
  }

  /** The schema as JSON. Named schemas in it become references and are collected. */
  refer(schema: unknown): unknown {
    if (typeof schema !== "object" || schema === null) return schema;
    const name = this.#names.get(JSON.stringify(schema));
    if (name === undefined) return this.#copy(schema);
    if (!Object.hasOwn(this.#named, name)) {
      // Set before it is copied, because a schema may refer to itself.
      this.#named[name] = undefined;
      this.#named[name] = this.#copy(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #copy(schema: object): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.refer(item));
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, this.refer(value)]));
  }
}

/** Errors with the same message share a name. */
function nameOfError(name: ErrorName): string {
  const { message } = ERRORS[name];
  const words = /^[a-z_]+$/.test(message) ? message.split("_") : [name];
  return `${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("")}Error`;
}

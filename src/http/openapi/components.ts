// The named schemas of the document. Each is written once; everywhere else there is a reference to it.
import type Type from "typebox";
import { ERRORS } from "../../core/errors.ts";
import * as alerts from "../../core/wire/alerts.ts";
import * as audit from "../../core/wire/audit.ts";
import * as command from "../../core/wire/command.ts";
import { type ErrorName, schemaOfError } from "../../core/wire/error.ts";
import * as event from "../../core/wire/event.ts";
import { EVENT_SCHEMA_NAMES, EVENT_SCHEMAS } from "../../core/wire/event-union.ts";
import * as map from "../../core/wire/game-map.ts";
import * as history from "../../core/wire/history.ts";
import * as block from "../../core/wire/key.ts";
import * as key from "../../core/wire/key.ts";
import * as ownKey from "../../core/wire/key.ts";
import * as people from "../../core/wire/people.ts";
import * as server from "../../core/wire/server.ts";
import { SectionSchemas, ServerInfo } from "../../core/wire/server-info.ts";
import * as webhook from "../../core/wire/webhook.ts";

const { Players, Staff, JoinLogs, KillLogs, CommandLogs, ModCalls, EmergencyCalls, Vehicles } = SectionSchemas;

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
  PlayerSession: history.SessionResource,
  PlayerSessionPage: history.SessionPage,
  StaffActivity: history.StaffResource,
  StaffActivityPage: history.StaffPage,
  ...named(ownKey, "OwnKeyResource"),
  ...EVENT_SCHEMAS,
  ...named(event, "EventResource", "EventPage"),
  ...named(history, "PlayersHistory", "PlayersPoint", "PlaytimeResource", "PlaytimePage", "PeaksResource"),
  ...named(map, "GameMapResource", "MapImageResource"),
  ...named(command, "NewCommand", "CommandReceipt", "CommandResource", "OwnedCommandResource"),
  ...named(server, "NewServer", "ServerChange", "ServerResource", "DeletedServerResource"),
  ...named(key, "NewKey", "KeyUpdate", "KeyResource", "KeyWithToken", "KeyWithUsage", "UsageResource"),
  ...named(key, "Rotation", "RotatedKey"),
  ...named(people, "NewPerson", "PersonUpdate", "InvitationResource", "RoleResource", "RoleList", "NewRole"),
  ...named(people, "PersonResource", "MeResource", "PersonTokenResource", "TokenRequest", "SignInMethods"),
  ...named(people, "InvitationSignIn", "NewPasskey", "PasskeySignIn", "PasskeyOptions"),
  ...named(people, "PersonSessionResource", "PersonSessionList", "PasskeyResource", "PasskeyList"),
  ...named(alerts, "AlertRulesResource"),
  ...named(webhook, "NewWebhook", "WebhookUpdate", "WebhookResource", "WebhookWithSecret", "RotatedWebhook"),
  ...named(webhook, "Redelivery", "WebhookTestResult", "DeliveryResource", "DeliveryPage"),
  ...named(block, "BlockResource"),
  ...named(audit, "AuditEntryResource"),
  ...Object.fromEntries((Object.keys(ERRORS) as ErrorName[]).map((name) => [nameOfError(name), schemaOfError(name)])),
};

/** The schemas of a module by their names, without `Resource` at the end. */
function named<M extends object, Name extends keyof M & string>(module: M, ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name.replace(/Resource$/, ""), module[name] as Type.TSchema]));
}

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
      this.#named[name] = schema === event.EventResource ? this.#describeEvent() : this.#copy(schema);
    }
    return toReference(name);
  }

  /** One of all types of events, so that generated clients know what `data` is. */
  #describeEvent(): object {
    const mapping = Object.fromEntries(
      Array.from(EVENT_SCHEMA_NAMES, ([type, name]) => [type, toReference(name).$ref]),
    );
    return {
      oneOf: Object.values(EVENT_SCHEMAS).map((schema) => this.refer(schema)),
      discriminator: { propertyName: "type", mapping },
    };
  }

  #copy(schema: object): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.refer(item));
    const copied = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, this.refer(value)]));
    return isTextEnum(copied) ? { type: "string", ...copied } : copied;
  }
}

function toReference(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

/** TypeBox leaves out the type of an enum, which some generators need. */
function isTextEnum({ enum: values, type }: { readonly enum?: unknown; readonly type?: unknown }): boolean {
  return type === undefined && Array.isArray(values) && values.every((value) => typeof value === "string");
}

/** Errors with the same message share a name. */
function nameOfError(name: ErrorName): string {
  const { message } = ERRORS[name];
  const words = /^[a-z_]+$/.test(message) ? message.split("_") : [name];
  return `${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("")}Error`;
}

// The named schemas of the document. A schema is written once; wherever the same one occurs again, a reference stands.
import type Type from "typebox";
import { ERRORS } from "../../core/errors.ts";
import { AuditEntryResource } from "../../core/wire/audit.ts";
import { BlockResource } from "../../core/wire/block.ts";
import {
  CommandReceipt,
  CommandResource,
  NewCommand,
  OwnedCommandResource,
} from "../../core/wire/command.ts";
import { type ErrorName, schemaOfError } from "../../core/wire/error.ts";
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
  Block: BlockResource,
  AuditEntry: AuditEntryResource,
  ...Object.fromEntries(
    (Object.keys(ERRORS) as ErrorName[]).map((name) => [nameOfError(name), schemaOfError(name)]),
  ),
};

export type Schemas = {
  /** The schema as JSON, with references to named ones; a named one becomes part of the document when first met. */
  refer(schema: Type.TSchema): unknown;
  /** All that were referred to. */
  readonly named: Readonly<Record<string, unknown>>;
};

export function collectSchemas(): Schemas {
  const nameOf = new Map(Object.entries(NAMED).map(([name, schema]) => [JSON.stringify(schema), name]));
  const named: Record<string, unknown> = {};

  function refer(schema: unknown): unknown {
    if (typeof schema !== "object" || schema === null) return schema;
    const name = nameOf.get(JSON.stringify(schema));
    if (name === undefined) return copy(schema);
    if (!Object.hasOwn(named, name)) {
      // Taken before it is filled: it must not be met again while it is copied.
      named[name] = undefined;
      named[name] = copy(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function copy(schema: object): unknown {
    if (Array.isArray(schema)) return schema.map(refer);
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]));
  }

  return { refer, named };
}

/** Errors that look the same on the wire have one name. */
function nameOfError(name: ErrorName): string {
  const { message } = ERRORS[name];
  const words = /^[a-z_]+$/.test(message) ? message.split("_") : [name];
  return `${words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("")}Error`;
}

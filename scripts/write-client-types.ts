// Writes packages/client/src/wire-types.ts from the schemas in src/core/wire. A test fails when the file is not what this writes.
import { join } from "node:path";
import type Type from "typebox";
import { CommandReceipt, CommandResource, CommandState } from "../src/core/wire/command.ts";
import { EventPage, EventResource, EventSourceName } from "../src/core/wire/event.ts";
import {
  Alert,
  CustomCommand,
  EventMeta,
  Gap,
  ServerStateData,
  StaffMember,
} from "../src/core/wire/event-data.ts";
import { GameMapResource, MapImageResource } from "../src/core/wire/game-map.ts";
import {
  PeaksResource,
  PlayersHistory,
  PlayersPoint,
  PlaytimePage,
  PlaytimeResource,
  SessionPage,
  SessionResource,
  StaffPage,
  StaffResource,
} from "../src/core/wire/history.ts";
import { OwnKeyResource } from "../src/core/wire/own-key.ts";
import { pageOf } from "../src/core/wire/page.ts";
import { SectionSchemas, ServerBase } from "../src/core/wire/server-info.ts";

const ROOT = join(import.meta.dir, "..");
export const WIRE_TYPES = join(ROOT, "packages/client/src/wire-types.ts");

const HEAD = `// Written by scripts/write-client-types.ts from the schemas of Gatehouse. Do not change it by hand.

/** An id of the game. A bigint when a double cannot hold it; the same id always has the same type. */
export type Id = number | bigint;
`;

/** The integers that may be bigints say so. */
const MAY_BE_LARGE = "may exceed 2^53";

type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
};

/** Every type that the file exports, by its name. A schema inside another is written as the name of its type. */
function listTypes(): ReadonlyMap<string, Schema> {
  const elementOf = (schema: Type.TSchema) => (schema as Schema).items ?? {};
  const player = elementOf(SectionSchemas.Players);
  const sections: Schema = {
    type: "object",
    properties: SectionSchemas as unknown as Record<string, Schema>,
    required: Object.keys(SectionSchemas),
    description: "The nine sections, by their names",
  };
  const types: Readonly<Record<string, object>> = {
    Section: { enum: Object.keys(SectionSchemas) },
    Location: player.properties?.Location ?? {},
    Player: player,
    Staff: SectionSchemas.Staff,
    JoinLog: elementOf(SectionSchemas.JoinLogs),
    KillLog: elementOf(SectionSchemas.KillLogs),
    CommandLog: elementOf(SectionSchemas.CommandLogs),
    ModCall: elementOf(SectionSchemas.ModCalls),
    EmergencyCall: elementOf(SectionSchemas.EmergencyCalls),
    Vehicle: elementOf(SectionSchemas.Vehicles),
    ServerBase,
    Sections: sections,
    EventType: EventResource.properties.type,
    EventSource: EventSourceName,
    EventResource,
    EventPage,
    Gap,
    ServerStateData,
    StaffMember,
    CustomCommand,
    Alert,
    EventMeta,
    CommandStatus: CommandState,
    CommandReceipt,
    CommandResource,
    CommandPage: pageOf(CommandResource),
    PlayersPoint,
    PlayersHistory,
    SessionResource,
    SessionPage,
    PlaytimeResource,
    PlaytimePage,
    StaffResource,
    StaffPage,
    PeaksResource,
    OwnKeyResource,
    MapImageResource,
    GameMapResource,
  };
  return new Map(Object.entries(types) as [string, Schema][]);
}

/** The text of the file, before it is formatted. */
export function writeClientTypes(): string {
  const types = listTypes();
  const nameOf = new Map([...types].map(([name, schema]) => [JSON.stringify(schema), name]));
  const declarations = [...types].map(([name, schema]) => {
    return `${describe(schema)}export type ${name} = ${writeBare(schema, nameOf)};\n`;
  });
  return [HEAD, ...declarations].join("\n");
}

/** The text of the file, formatted as Biome does it. */
export async function formatClientTypes(): Promise<string> {
  const biome = Bun.spawn(
    [join(ROOT, "node_modules/.bin/biome"), "format", `--stdin-file-path=${WIRE_TYPES}`],
    {
      cwd: ROOT,
      stdin: new Blob([writeClientTypes()]),
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const text = await biome.stdout.text();
  if ((await biome.exited) !== 0) throw new Error("Biome cannot format the types");
  return text;
}

function write(schema: Schema, nameOf: ReadonlyMap<string, string>): string {
  return nameOf.get(JSON.stringify(schema)) ?? writeBare(schema, nameOf);
}

function writeBare(schema: Schema, nameOf: ReadonlyMap<string, string>): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map((each) => write(each, nameOf)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
      return "number";
    case "integer":
      return schema.description?.includes(MAY_BE_LARGE) ? "Id" : "number";
    case "array":
      return writeArray(schema, nameOf);
    case "object":
      return writeObject(schema, nameOf);
    case undefined:
      return "unknown";
    default:
      throw new Error(`there is no type for ${JSON.stringify(schema)}`);
  }
}

/** A short list with a fixed length is a tuple. */
function writeArray({ items = {}, minItems, maxItems }: Schema, nameOf: ReadonlyMap<string, string>): string {
  const item = write(items, nameOf);
  if (minItems !== undefined && minItems === maxItems && minItems <= 3)
    return `readonly [${Array.from({ length: minItems }, () => item).join(", ")}]`;
  return /^\w+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
}

function writeObject(schema: Schema, nameOf: ReadonlyMap<string, string>): string {
  const { properties, patternProperties, required = [] } = schema;
  if (!properties) {
    const [value = {}] = Object.values(patternProperties ?? {});
    return `{ readonly [name: string]: ${write(value, nameOf)} }`;
  }
  const lines = Object.entries(properties).map(([name, value]) => {
    const optional = required.includes(name) ? "" : "?";
    return `${describe(value)}readonly ${name}${optional}: ${write(value, nameOf)};\n`;
  });
  return `{\n${lines.join("")}}`;
}

function describe({ description }: Schema): string {
  return description === undefined ? "" : `/** ${description.replaceAll("*/", "* /")} */\n`;
}

if (import.meta.main) await Bun.write(WIRE_TYPES, await formatClientTypes());

// Writes the types of both clients from the schemas in src/core/wire: packages/client/src/wire-types.ts, and the written part of
// packages/python; then the declarations of packages/client. A test fails when they are not what this writes.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Type from "typebox";
import { CommandReceipt, CommandResource, CommandState } from "../src/core/wire/command.ts";
import { EventPage, EventResource, EventSourceName } from "../src/core/wire/event.ts";
import { Alert, CustomCommand, EventMeta, Gap, ServerStateData, StaffMember } from "../src/core/wire/event-data.ts";
import { GameMapResource, MapImageResource } from "../src/core/wire/game-map.ts";
import {
  PeaksResource,
  PlayersHistory,
  PlayersPoint,
  PlaytimePage,
  PlaytimeResource,
  PresentHistory,
  SessionPage,
  SessionResource,
  StaffPage,
  StaffResource,
} from "../src/core/wire/history.ts";
import { OwnKeyResource } from "../src/core/wire/key.ts";
import { pageOf } from "../src/core/wire/page.ts";
import {
  AimedCommand,
  ModCallPage,
  ModCallResource,
  NewNote,
  NotePage,
  NoteResource,
  PlayerPage,
  PlayerRecord,
  PlayerResource,
} from "../src/core/wire/players.ts";
import { SectionSchemas, ServerBase } from "../src/core/wire/server-info.ts";
import { WhoResource } from "../src/core/wire/values.ts";
import { TYPE_SOURCES } from "./build-clients.ts";

const ROOT = join(import.meta.dir, "..");
export const WIRE_TYPES = join(ROOT, "packages/client/src/wire-types.ts");
export const DECLARATIONS = join(ROOT, "packages/client/types");
export const PYTHON_MODULE = join(ROOT, "packages/python/gatehouse_client/__init__.py");

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
    PresentHistory,
    Who: WhoResource,
    PlayerResource,
    PlayerPage,
    AimedCommand,
    NewNote,
    NoteResource,
    NotePage,
    PlayerRecord,
    ModCallResource,
    ModCallPage,
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
  const biome = Bun.spawn([join(ROOT, "node_modules/.bin/biome"), "format", `--stdin-file-path=${WIRE_TYPES}`], {
    cwd: ROOT,
    stdin: new Blob([writeClientTypes()]),
    stdout: "pipe",
    stderr: "inherit",
  });
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

const PYTHON_BEGIN =
  "# Written by scripts/write-client-types.ts from the schemas of Gatehouse. Do not change these types by hand.\n";
const PYTHON_END = "# The end of the written types.\n";
const PYTHON_WIDTH = 120;
const NO_IDENTIFIER = /^(from|import|class|in|is)$|\W/;

/** What the events of a type have as `data`: a type of the list, or a schema. */
const EVENT_DATA: Readonly<Record<string, string>> = {
  "player.joined": "JoinLog",
  "player.left": "JoinLog",
  "player.killed": "KillLog",
  "command.used": "CommandLog",
  "modcall.opened": "ModCall",
  "modcall.answered": "ModCall",
  "modcall.claimed": "ModCall",
  "modcall.released": "ModCall",
  "call.opened": "EmergencyCall",
  "call.changed": "EmergencyCall",
  "call.closed": "EmergencyCall",
  "custom.command": "CustomCommand",
  "custom.unknown": "Dict[str, Any]",
  "player.changed": "Player",
  "vehicle.spawned": "Vehicle",
  "vehicle.removed": "Vehicle",
  "staff.added": "StaffMember",
  "staff.removed": "StaffMember",
  "queue.changed": "Dict[str, List[int]]",
  "server.changed": "ServerSettings",
  "server.online": "ServerStateData",
  "server.offline": "ServerStateData",
  "server.unreachable": "ServerStateData",
  "alert.raised": "Alert",
  "alert.cleared": "Alert",
  gap: "Gap",
};

/** The module of the Python client with its types written anew. */
export function updatePythonTypes(): string {
  const module = readFileSync(PYTHON_MODULE, "utf8");
  const [head = "", written = ""] = module.split(PYTHON_BEGIN);
  const tail = written.split(PYTHON_END)[1];
  if (tail === undefined) throw new Error(`${PYTHON_MODULE} has no place for the written types`);
  return `${head}${PYTHON_BEGIN}\n${writePythonTypes()}\n${PYTHON_END}${tail}`;
}

/** As TypedDicts, because the client gives the JSON as it came. */
function writePythonTypes(): string {
  const { CurrentPlayers: _, ...settings } = ServerBase.properties as unknown as Readonly<Record<string, Schema>>;
  const all = listTypes();
  const event = all.get("EventResource");
  const sections = all.get("Sections")?.properties ?? {};
  const types = new Map(all);
  types.delete("EventResource");
  types.delete("Sections");
  types.set("ServerSettings", { type: "object", properties: settings, required: Object.keys(settings) });
  const nameOf = new Map([...types].map(([name, schema]) => [JSON.stringify(schema), name]));
  nameOf.set(JSON.stringify(event), "Event");
  const aliases = [...types].filter(([, schema]) => schema.enum);
  const classes = [...types].filter(([, schema]) => !schema.enum);
  const written = [
    ...aliases.map(([name, schema]) => `${name} = ${breakLong(writeLiteral(schema.enum ?? []), name)}\n`),
    ...classes.flatMap(([name, schema]) => writePythonClass(name, schema, nameOf)),
    ...writePythonClass("ServerInfo(ServerBase)", { type: "object", properties: sections }, nameOf),
    ...writeEvents(event?.properties ?? {}, types.get("EventType")?.enum ?? [], nameOf),
  ];
  return written.join("\n\n");
}

function writeEvents(
  fields: Readonly<Record<string, Schema>>,
  types: readonly string[],
  nameOf: ReadonlyMap<string, string>,
): string[] {
  const { type: _type, data: _data, meta: _meta, ...own } = fields;
  const base = writePythonClass("EventFields", { type: "object", properties: own, required: Object.keys(own) }, nameOf);
  const names = types.map(
    (type) => `${type.replaceAll(/(?:^|\.)(\w)/g, (_, first: string) => first.toUpperCase())}Event`,
  );
  const classes = types.map((type, index) => {
    const data = EVENT_DATA[type];
    if (data === undefined) throw new Error(`${type} has no type of data`);
    return `class ${names[index]}(EventFields):\n    type: Literal[${JSON.stringify(type)}]\n    data: ${data}\n`;
  });
  const union = `#: What happened; \`type\` says what \`data\` is.\nEvent = Union[\n${names.map((name) => `    ${name},\n`).join("")}]\n`;
  return [...base.map((text) => `${text.trimEnd()}\n    meta: NotRequired[EventMeta]\n`), ...classes, union];
}

/** The classes of the objects inside come first. */
function writePythonClass(title: string, schema: Schema, nameOf: ReadonlyMap<string, string>): string[] {
  const { properties = {}, required = [], description } = schema;
  const name = title.replace(/\(.*/, "");
  const inner: string[] = [];
  const fields = Object.entries(properties).map(([field, value]) => {
    const type = writePython(
      value,
      nameOf,
      `${name}${field.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}`,
      inner,
    );
    return { field, type: required.includes(field) ? type : `NotRequired[${type}]`, description: value.description };
  });
  // A keyword is no name of a field. These values are read at once, so those types come before.
  if (fields.some(({ field }) => NO_IDENTIFIER.test(field))) {
    const lines = fields.map(
      ({ field, type, description }) =>
        `${comment(description)}    ${JSON.stringify(field)}: ${JSON.stringify(type)},\n`,
    );
    return [
      ...inner,
      `${name} = TypedDict(\n    ${JSON.stringify(name)},\n    {\n${lines.join("").replaceAll(/^/gm, "    ").trimEnd()}\n    },\n)\n`,
    ];
  }
  const lines = fields.map(({ field, type, description }) => `${comment(description)}    ${field}: ${type}\n`);
  const head = title.includes("(") ? title : `${title}(TypedDict)`;
  const doc = description === undefined ? "" : `    """${description}."""\n\n`;
  return [...inner, `class ${head}:\n${doc}${lines.join("")}`];
}

function writePython(schema: Schema, nameOf: ReadonlyMap<string, string>, name: string, inner: string[]): string {
  const known = nameOf.get(JSON.stringify(schema));
  if (known !== undefined) return known;
  if (schema.enum) return writeLiteral(schema.enum);
  if (schema.const !== undefined) return writeLiteral([String(schema.const)]);
  if (schema.anyOf) {
    const types = schema.anyOf
      .filter(({ type }) => type !== "null")
      .map((each) => writePython(each, nameOf, name, inner));
    const type = types.length === 1 ? types[0] : `Union[${types.join(", ")}]`;
    return types.length === schema.anyOf.length ? `${type}` : `Optional[${type}]`;
  }
  switch (schema.type) {
    case "string":
      return "str";
    case "boolean":
      return "bool";
    case "null":
      return "None";
    case "number":
      return "float";
    case "integer":
      return "int";
    case "array":
      return `List[${writePython(schema.items ?? {}, nameOf, name, inner)}]`;
    case "object": {
      if (schema.properties) {
        inner.push(...writePythonClass(name, schema, nameOf));
        return name;
      }
      const [value = {}] = Object.values(schema.patternProperties ?? {});
      return `Dict[str, ${writePython(value, nameOf, name, inner)}]`;
    }
    case undefined:
      return "Any";
    default:
      throw new Error(`there is no type for ${JSON.stringify(schema)}`);
  }
}

function writeLiteral(values: readonly string[]): string {
  return `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
}

function breakLong(literal: string, name: string): string {
  if (name.length + literal.length + 3 <= PYTHON_WIDTH) return literal;
  return literal.replace("[", "[\n    ").replaceAll('", ', '",\n    ').replace("]", ",\n]");
}

function comment(description: string | undefined): string {
  if (description === undefined) return "";
  const lines: string[] = [];
  let line = "    #:";
  for (const word of description.split(/\s+/)) {
    if (line.length + 1 + word.length > PYTHON_WIDTH - 4) {
      lines.push(line);
      line = "    #:";
    }
    line += ` ${word}`;
  }
  return `${[...lines, line].join("\n")}\n`;
}

/** The declarations of packages/client by their names, but of the sources that are nothing but types. */
export async function makeDeclarations(): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-types-"));
  try {
    const options = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", folder];
    const tsc = Bun.spawn([join(ROOT, "node_modules/.bin/tsc"), "-p", join(ROOT, "packages/client"), ...options], {
      stdout: "inherit",
      stderr: "inherit",
    });
    if ((await tsc.exited) !== 0) throw new Error("the types of the client cannot be written");
    const names = readdirSync(folder).filter((name) => !TYPE_SOURCES.includes(name.replace(".d.ts", "")));
    return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  await Bun.write(WIRE_TYPES, await formatClientTypes());
  await Bun.write(PYTHON_MODULE, updatePythonTypes());
  rmSync(DECLARATIONS, { recursive: true, force: true });
  for (const [name, text] of await makeDeclarations()) await Bun.write(join(DECLARATIONS, name), text);
}

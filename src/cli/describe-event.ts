// An event as one line of text for people. Whatever is missing in the game's data is left out.
import type { EventResource } from "../core/wire/event.ts";

type Fields = EventResource["data"];

/** What happened, without the time and the type. */
export function describeEvent({ type, data, meta }: EventResource): string {
  switch (type) {
    case "player.joined":
    case "player.left":
      return nameOf(data.Player);
    case "player.killed":
      return data.Killer
        ? `${nameOf(data.Killer)} killed ${nameOf(data.Killed)}`
        : `${nameOf(data.Killed)} died`;
    case "command.used":
      return `${nameOf(data.Player)}: ${textOf(data.Command)}`;
    case "modcall.opened":
      return `${nameOf(data.Caller)} called for a moderator`;
    case "modcall.answered":
      return `${nameOf(data.Moderator)} came to ${nameOf(data.Caller)}`;
    case "call.opened":
    case "call.changed":
    case "call.closed":
      return `#${textOf(data.CallNumber)} ${textOf(data.Team)}: ${textOf(data.Description)}`;
    case "custom.command":
      return `${textOf(data.Player)}: ${textOf(data.Command)} ${textOf(data.Argument)}`.trimEnd();
    case "custom.unknown":
      return textOf(data.Event);
    case "player.changed":
      return `${nameOf(data.Player)} ${describeChanges(data, meta)}`;
    case "vehicle.spawned":
    case "vehicle.removed":
      return `${textOf(data.Owner)}: ${textOf(data.Name)}`;
    case "staff.added":
    case "staff.removed":
      return `${textOf(data.Name)} (${textOf(data.Role)})`;
    case "queue.changed":
      return `${countOf(meta?.before)} → ${countOf(data.Queue)} waiting`;
    case "server.changed":
      return describeChanges(data, meta);
    case "server.online":
    case "server.offline":
    case "server.unreachable":
      return data.upstream_message ? textOf(data.upstream_message) : "-";
    case "alert.raised":
    case "alert.cleared":
      return textOf(data.text);
    case "gap":
      return `${data.section === "*" ? "changes" : textOf(data.section)} may be missing (${textOf(data.reason)})`;
    default:
      // A type of a newer version.
      return JSON.stringify(data);
  }
}

function describeChanges(data: Fields, meta: EventResource["meta"]): string {
  const before = isFields(meta?.before) ? meta.before : {};
  return Object.entries(before)
    .map(([field, was]) => `${field}: ${textOf(was)} → ${textOf(data[field])}`)
    .join(", ");
}

/** The name in `<player_name>:<player_id>`. */
function nameOf(reference: unknown): string {
  return textOf(reference).replace(/:\d+$/, "");
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function countOf(list: unknown): string {
  return Array.isArray(list) ? String(list.length) : "?";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

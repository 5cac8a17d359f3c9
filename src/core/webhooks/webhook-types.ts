// The types of events that a webhook is sent: as an operator gives them, and as the filter of its reader.
import { type EventFilter, filterAll, parseTypes } from "../events/event-types.ts";
import { SECTIONS } from "../sections.ts";

const ALL_SECTIONS = (1 << SECTIONS.length) - 1;

/** What is wrong with the list, without repeating an unknown name: it may be a secret in the wrong place. */
export function findTypesProblem(types: readonly string[]): string | undefined {
  const isUnknown = (name: string) => name.includes(",") || "fault" in parseTypes(name, ALL_SECTIONS);
  if (types.some(isUnknown))
    return "has a name that is no type of event, and no group of them such as player.*";
  const parsed = parseTypes(types.join(","), ALL_SECTIONS);
  return "fault" in parsed ? `has ${parsed.fault.name} twice` : undefined;
}

/** `types` is null for all. They were checked when they were set. */
export function filterOfTypes(types: readonly string[] | null): EventFilter {
  const parsed = types && parseTypes(types.join(","), ALL_SECTIONS);
  // A list that a later version does not know any more hides nothing.
  return parsed && "filter" in parsed ? parsed.filter : filterAll();
}

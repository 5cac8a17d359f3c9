// The types of events that a webhook is sent: as an operator gives them, and as the filter of its reader.
import { describeTypesFault, type EventFilter, filterAll, parseTypes } from "../events/event-types.ts";
import { SECTIONS } from "../sections.ts";

const ALL_SECTIONS = (1 << SECTIONS.length) - 1;

/** What is wrong with the list; undefined when nothing is. */
export function findTypesProblem(types: readonly string[]): string | undefined {
  // Joined below, a name with a comma would be two.
  if (types.some((name) => name.includes(","))) return describeTypesFault({ reason: "unknown", name: "" });
  const parsed = parseTypes(types.join(","), ALL_SECTIONS);
  return "fault" in parsed ? describeTypesFault(parsed.fault) : undefined;
}

/** `types` is null for all. They were checked when they were set. */
export function filterOfTypes(types: readonly string[] | null): EventFilter {
  const parsed = types && parseTypes(types.join(","), ALL_SECTIONS);
  // A list that a later version does not know any more hides nothing.
  return parsed && "filter" in parsed ? parsed.filter : filterAll();
}

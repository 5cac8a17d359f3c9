// English text of the parts that lists and tables are made of.

export const table = {
  rows_one: "{{count}} entry",
  rows_other: "{{count}} entries",
  found_one: "{{n}} of {{count}} entry",
  found_other: "{{n}} of {{count}} entries",
  noMatch: "Nothing found",
  noMatchHint: "Shorten the search, or clear a filter.",
  all: "All",
  sortBy: "Sort by",
  ascending: "{{column}} ↑",
  descending: "{{column}} ↓",
  more: "Show {{n}} more of {{count}}",
  nothing: "nothing",
  unknown: "unknown",
  unknownTime: "time unknown",
  wholeText: "Show the whole text",
  openPlayer: "Open {{name}}",
};

// English text of the parts that lists and tables are made of.

export const table = {
  rows_one: "{{count}} entry",
  rows_other: "{{count}} entries",
  found_one: "{{n}} of {{count}} entry",
  found_other: "{{n}} of {{count}} entries",
  noMatch: "Nothing fits",
  noMatchHint: "Take something out of the search, or choose more.",
  all: "All",
  sortBy: "Sort by",
  ascending: "{{column}} ↑",
  descending: "{{column}} ↓",
  more: "Show {{n}} more of {{count}}",
  nothing: "nothing",
  unknown: "unknown",
  unknownTime: "time unknown",
  details: "Details",
  buttons: "Actions",
  columns: "Columns",
  columnsReset: "As at first",
  sortsLoaded: "Only what is loaded is sorted.",
  wholeText: "Show the whole text",
};

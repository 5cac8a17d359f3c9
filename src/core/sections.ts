// The nine optional sections of a ServerInfo, and the parsing of the query that requests them. A set of sections is a bit
// mask: bit i stands for SECTIONS[i].

export const SECTIONS = [
  "Players",
  "Staff",
  "JoinLogs",
  "Queue",
  "KillLogs",
  "CommandLogs",
  "ModCalls",
  "EmergencyCalls",
  "Vehicles",
] as const;

export type Section = (typeof SECTIONS)[number];
export type SectionSet = number;

export const NO_SECTIONS: SectionSet = 0;
export const ALL_SECTIONS: SectionSet = (1 << SECTIONS.length) - 1;

const BIT_OF: ReadonlyMap<string, number> = new Map(SECTIONS.map((name, bit) => [name, 1 << bit]));

export function toSectionSet(names: readonly string[]): SectionSet {
  let set = NO_SECTIONS;
  for (const name of names) set |= BIT_OF.get(name) ?? 0;
  return set;
}

export function toSectionNames(set: SectionSet): Section[] {
  return SECTIONS.filter((_, bit) => set & (1 << bit));
}

/** The sections that are requested with `true`, and with no other value. Unknown parameters are ignored. */
export function parseSections(query: string): SectionSet {
  // URLSearchParams removes one leading question mark. It removes this one and keeps a question mark in the first name.
  const parameters = new URLSearchParams(`?${query}`);
  // Asked for by name: going through thirty thousand parameters takes twice as long as parsing them.
  return toSectionSet(SECTIONS.filter((name) => isTrue(parameters.getAll(name))));
}

function isTrue(values: readonly string[]): boolean {
  return values.length > 0 && values.every((value) => value === "true");
}

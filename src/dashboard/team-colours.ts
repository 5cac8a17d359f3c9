// A colour for each team, with a contrast of at least 3 to 1 in both colour schemes. Unknown teams share one colour.

export type Scheme = "light" | "dark";

export const TEAMS = ["Civilian", "Police", "Sheriff", "Fire", "DOT", "Jail"] as const;
export type Team = (typeof TEAMS)[number];

const COLOURS: Readonly<Record<Team, Readonly<Record<Scheme, string>>>> = {
  Civilian: { light: "#64748b", dark: "#a3b1c6" },
  Police: { light: "#1d4ed8", dark: "#74a3ff" },
  Sheriff: { light: "#a16207", dark: "#eab308" },
  Fire: { light: "#c92a2a", dark: "#ff7676" },
  DOT: { light: "#0b7285", dark: "#3bc9db" },
  Jail: { light: "#862e9c", dark: "#da77f2" },
};
const OTHER: Readonly<Record<Scheme, string>> = { light: "#2b8a3e", dark: "#69db7c" };

/** The known teams in their order, then those that only the game knows. */
export function listTeams(found: Iterable<string>): readonly string[] {
  return [...new Set([...TEAMS, ...found])];
}

export function isTeam(name: string): name is Team {
  return Object.hasOwn(COLOURS, name);
}

export function teamColour(name: string, scheme: Scheme): string {
  return (isTeam(name) ? COLOURS[name] : OTHER)[scheme];
}

// The teams of the game.

export const SERVICE_TEAMS = ["Sheriff", "Police", "Fire", "DOT"] as const;
export type ServiceTeam = (typeof SERVICE_TEAMS)[number];
export type Team = "Civilian" | "Jail" | ServiceTeam;

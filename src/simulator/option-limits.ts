// The largest and smallest values of the simulator's options. The command line checks them before it loads the simulator.

export const PLAYERS_MAX = 500;
export const LIMIT_MAX = 1_000_000_000;
export const SPEED_MIN = 0.001;
export const SPEED_MAX = 1_000_000;

// A game server as Gatehouse knows it: a name, a community, and the upstream key that only the relay reads.

export const COMMUNITY_SHAPE = /^[A-Za-z0-9_-]{1,64}$/;

/** What the game API calls a server key; anything else cannot be one. */
export const SERVER_KEY_SHAPE = /^[A-Za-z0-9]+-[A-Za-z0-9]+$/;

export type GameServer = {
  readonly serverId: string;
  readonly name: string;
  /** Null: any community segment is accepted. */
  readonly community: string | null;
  readonly createdAt: number;
  /** Grows whenever the upstream key is set, so that what was learned about the old one can be forgotten. */
  readonly keyRevision: number;
};

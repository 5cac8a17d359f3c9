// A game server. Its upstream key is not part of it: only calls to the game API read that.

export const COMMUNITY_SHAPE = /^[A-Za-z0-9_-]{1,64}$/;

/** The address of a public status page. */
export const STATUS_SLUG_SHAPE = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** What everybody may see of a server, at /status/<slug>. */
export type PublicStatus = { readonly slug: string; readonly showsJoinKey: boolean };

/** The format of the game API's server keys. */
export const SERVER_KEY_SHAPE = /^[A-Za-z0-9]+-[A-Za-z0-9]+$/;

/** What an operator sets, but for the key. */
export type ServerSettings = {
  readonly name: string;
  /** Null: any community segment is accepted. */
  readonly community: string | null;
  /** Whether Gatehouse reads it unasked. */
  readonly isWatched: boolean;
  /** Null: nothing of it is public. */
  readonly publicStatus: PublicStatus | null;
  /** Whether its owners, as its newest reading names them, may sign in without an invitation. */
  readonly ownersSignIn: boolean;
};

/** Only the name has to be given. */
export const DEFAULT_SERVER: Omit<ServerSettings, "name"> = {
  community: null,
  isWatched: true,
  publicStatus: null,
  ownersSignIn: false,
};

export type GameServer = ServerSettings & {
  readonly serverId: string;
  readonly createdAt: number;
  /** Increased whenever the upstream key is set, so that cached failures of the old key can be dropped. */
  readonly keyRevision: number;
  /** Whether its key was set while the built-in simulator was the upstream. Only the simulator may serve it then. */
  readonly isSimulated: boolean;
};

/** Whether the server was made for another upstream than the one in use. Nothing may be asked or sent for it then. */
export function isParked({ isSimulated }: Pick<GameServer, "isSimulated">, isSimulatorInUse: boolean): boolean {
  return isSimulated !== isSimulatorInUse;
}

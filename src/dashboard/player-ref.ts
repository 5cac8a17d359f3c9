// The game writes players as "<name>:<id>". A name may contain colons; the id does not.

export type PlayerRef = { readonly name: string; readonly id: string | undefined };

/** The longest id that Gatehouse takes. */
const PLAYER_ID = /^\d{1,20}$/;

export function parsePlayerRef(text: string | null | undefined): PlayerRef {
  const given = text ?? "";
  const [, name = given, id] = /^(.*):(\d+)$/su.exec(given) ?? [];
  return { name, id };
}

/** Whether there can be a page about the player with this id. */
export function isPlayerId(text: string): boolean {
  return PLAYER_ID.test(text);
}

/** The game writes the owner of a vehicle without the id: it is that of the only player on the server with this name. */
export function findPlayerByName(
  text: string,
  players: readonly { readonly Player?: string }[] | undefined,
): PlayerRef {
  const ref = parsePlayerRef(text);
  if (ref.id !== undefined) return ref;
  const named = (players ?? []).map((player) => parsePlayerRef(player.Player)).filter(({ name }) => name === text);
  return named.length === 1 ? { name: text, id: named[0]?.id } : ref;
}

/** The names of the players on the server, by id. */
export type PlayerNames = ReadonlyMap<string, string>;

export function mapPlayerNames(players: readonly { readonly Player?: string }[] | undefined): PlayerNames {
  const names = new Map<string, string>();
  for (const player of players ?? []) {
    const { name, id } = parsePlayerRef(player.Player);
    if (id !== undefined) names.set(id, name);
  }
  return names;
}

// The game writes players as "<name>:<id>". A name may contain colons; the id does not.

export type PlayerRef = { readonly name: string; readonly id: string | undefined };

export function parsePlayerRef(text: string | null | undefined): PlayerRef {
  const given = text ?? "";
  const [, name = given, id] = /^(.*):(\d+)$/su.exec(given) ?? [];
  return { name, id };
}

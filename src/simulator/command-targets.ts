// Whom a command means: names by their beginning, ids, comma lists, and the words all, others and me.
import { listResidents, type Person, type Resident, type Town } from "./town.ts";

/** `actor` is null for commands that come from outside the game. */
export function findTargets(town: Town, actor: Resident | null, words: string): Resident[] {
  const residents = listResidents(town);
  const found = new Set<Resident>();
  for (const word of splitList(words)) {
    for (const resident of residents) {
      if (isMeant(resident, actor, word)) found.add(resident);
    }
  }
  return [...found];
}

function isMeant(resident: Resident, actor: Resident | null, word: string): boolean {
  if (word === "all") return true;
  if (word === "others") return resident !== actor;
  if (word === "me") return resident === actor;
  return isNamed(resident.person, word);
}

/** Ranks and bans are also given to people who are not in town: to them only by whole name or id. */
export function findPeople(people: Iterable<Person>, words: string): Person[] {
  const wanted = new Set(splitList(words));
  return [...people].filter(({ id, name }) => wanted.has(String(id)) || wanted.has(name.toLowerCase()));
}

function isNamed(person: Person, word: string): boolean {
  return String(person.id) === word || person.name.toLowerCase().startsWith(word);
}

function splitList(words: string): string[] {
  return words
    .toLowerCase()
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

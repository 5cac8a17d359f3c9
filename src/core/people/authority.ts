// What somebody may do in the admin API: the master key and people who are operators everything, another person only what its
// roles allow on its servers. Nobody gives, changes or takes more than they have themselves.
import { NOT_FOUND, type Refusal } from "../errors.ts";
import { type ApiKey, type KeyRights, ROLE_FORBIDDEN } from "../keys/api-key.ts";
import { type Ability, abilitiesOfKey, isWithin, type Rights, toAbilitySet } from "../keys/rights.ts";
import type { Actor } from "../ports/audit.ts";
import type { Person, ServerRole } from "./person.ts";
import { OPERATOR_RIGHTS, type Role } from "./role.ts";

/** What opens a part of the admin API. The other abilities are used with a server's own paths. */
const ADMIN_ABILITIES = toAbilitySet(["exports", "alerts", "webhooks", "keys", "status", "people"]);

/** Of these servers, or of this one. Without either: of all. */
export type ServerFilter = {
  readonly serverId?: string | undefined;
  readonly serverIds?: readonly string[] | undefined;
};

type FindRole = (name: string) => Role | undefined;

/** Who changes something in the admin API, with which right, and when. */
export type AdminAct = { readonly actor: Actor; readonly authority: Authority; readonly now: number };

export class Authority {
  /** By server; undefined for an operator. */
  readonly #rights: ReadonlyMap<string, Rights> | undefined;
  readonly #findRole: FindRole;

  constructor(rights: ReadonlyMap<string, Rights> | undefined, findRole: FindRole) {
    this.#rights = rights;
    this.#findRole = findRole;
  }

  get isOperator(): boolean {
    return this.#rights === undefined;
  }

  /** Undefined without a role there. */
  findRights(serverId: string): Rights | undefined {
    return this.#rights ? this.#rights.get(serverId) : OPERATOR_RIGHTS;
  }

  /** Without `ability`: whether it has any that opens the admin API. */
  has(serverId: string, ability?: Ability): boolean {
    const rights = this.findRights(serverId);
    return rights !== undefined && (rights.may & (ability ? toAbilitySet([ability]) : ADMIN_ABILITIES)) !== 0;
  }

  /** Refuses what is about a server, or about none: not found without a role there, forbidden without the ability. */
  require(serverId: string | undefined, ability?: Ability): Refusal | undefined {
    if (this.isOperator) return undefined;
    if (serverId === undefined || !this.findRights(serverId)) return NOT_FOUND;
    return this.has(serverId, ability) ? undefined : ROLE_FORBIDDEN;
  }

  /** The servers on which it has the ability. Undefined: all servers. */
  listServers(ability?: Ability): readonly string[] | undefined {
    return this.#rights && [...this.#rights.keys()].filter((serverId) => this.has(serverId, ability));
  }

  /** What a list shows that may be asked for one server only: `serverIds` when it is not everything. */
  narrow(ability: Ability, serverId: string | undefined): ServerFilter {
    const mine = this.listServers(ability);
    if (!mine || (serverId !== undefined && mine.includes(serverId))) return { serverId };
    return { serverIds: serverId === undefined ? mine : [] };
  }

  /** Refuses rights on a server that are more than its own. */
  requireWithin(serverId: string, rights: Rights): Refusal | undefined {
    const own = this.findRights(serverId);
    return own && isWithin(rights, own) ? undefined : ROLE_FORBIDDEN;
  }

  /** Whether it sees the person: they have a role on a server whose people it manages. */
  sees({ servers }: Pick<Person, "servers">): boolean {
    return this.isOperator || servers.some(({ serverId }) => this.has(serverId, "people"));
  }

  /**
   * Refuses what is about the whole person: its name, its ways to sign in, its end. Whoever may change these can act as that
   * person, so the person must be no operator, and have no role that is elsewhere or more than its own.
   */
  requirePerson(person: Pick<Person, "isOperator" | "servers">): Refusal | undefined {
    if (this.isOperator) return undefined;
    if (!this.sees(person)) return NOT_FOUND;
    if (person.isOperator) return ROLE_FORBIDDEN;
    return person.servers.every((one) => this.#manages(one)) ? undefined : ROLE_FORBIDDEN;
  }

  /** Refuses to give or take one of the roles that differ. Those that stay the same need no right. */
  requireRoles(before: readonly ServerRole[], after: readonly ServerRole[]): Refusal | undefined {
    if (this.isOperator) return undefined;
    for (const changed of [...listOthers(before, after), ...listOthers(after, before)]) {
      const refusal = this.require(changed.serverId, "people");
      if (refusal) return refusal;
      if (!this.#manages(changed)) return ROLE_FORBIDDEN;
    }
    return undefined;
  }

  /** Whether it manages the people of that server, and the role there is within its own. */
  #manages({ serverId, role: name }: ServerRole): boolean {
    const role = this.#findRole(name);
    return this.has(serverId, "people") && role !== undefined && !this.requireWithin(serverId, role);
  }
}

export const OPERATOR_AUTHORITY = new Authority(undefined, () => undefined);

/** `roles` are those that the person has at this moment, by server. */
export function authorityOf(
  { isOperator }: Pick<Person, "isOperator">,
  roles: ReadonlyMap<string, Role>,
  findRole: FindRole,
): Authority {
  return isOperator ? OPERATOR_AUTHORITY : new Authority(roles, findRole);
}

/** A key has its rights on its own server. */
export function authorityOfKey({ serverId, grant }: Pick<ApiKey, "serverId" | "grant">): Authority {
  return new Authority(new Map([[serverId, grant]]), () => undefined);
}

export function rightsOfKey(key: Pick<KeyRights, keyof Rights>): Rights {
  return { ...key, may: abilitiesOfKey(key) };
}

/** The entries of `some` that `others` has not. */
export function listOthers(some: readonly ServerRole[], others: readonly ServerRole[]): ServerRole[] {
  return some.filter(
    ({ serverId, role }) => !others.some((other) => other.serverId === serverId && other.role === role),
  );
}

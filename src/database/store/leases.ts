// The lease of the instance that does something for all. It lasts while its holder counts as alive, and the fence of a dead
// holder refuses its writes, so that two holders never write.
import type { InstanceLease } from "../../core/ports/instance-lease.ts";
import type { Driver, Sql } from "../sql.ts";

const FIND_LIVING_HOLDER =
  "SELECT holder FROM leases JOIN instances ON instances.instance_id = leases.holder WHERE name = ?1";

export class DatabaseLease implements InstanceLease {
  constructor(
    private readonly driver: Driver,
    private readonly name: string,
    private readonly findInstanceId: () => string | undefined,
  ) {}

  async hold(): Promise<boolean> {
    const instanceId = this.findInstanceId();
    if (instanceId === undefined) return false;
    const living = await this.driver.query((sql) => sql.get<{ holder: string }>(FIND_LIVING_HOLDER, this.name));
    if (living) return living.holder === instanceId;
    return this.driver.transact((sql) => this.#take(sql, instanceId));
  }

  async release(): Promise<void> {
    const instanceId = this.findInstanceId() ?? "";
    // The row stays, so that the epoch goes on.
    const text = "UPDATE leases SET holder = '' WHERE name = ?1 AND holder = ?2";
    await this.driver.transact((sql) => sql.run(text, this.name, instanceId));
  }

  async #take(sql: Sql, instanceId: string): Promise<boolean> {
    const name = this.name;
    await sql.run("INSERT INTO leases (name, holder, epoch) VALUES (?1, '', 0) ON CONFLICT DO NOTHING", name);
    await sql.get(`SELECT epoch FROM leases WHERE name = ?1 ${sql.dialect.forUpdate}`, name);
    // Another instance may have taken it before the row was locked.
    if (await sql.get(FIND_LIVING_HOLDER, name)) return false;
    await sql.run("UPDATE leases SET holder = ?2, epoch = epoch + 1 WHERE name = ?1", name, instanceId);
    return true;
  }
}

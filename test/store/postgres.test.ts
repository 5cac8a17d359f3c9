// The store in PostgreSQL fulfils the contract of a store.
import { afterAll, beforeAll } from "bun:test";
import type { DatabaseStore } from "../../src/database/store/store.ts";
import { migrateStore, openTestPostgres } from "../open-store.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { describePeople } from "./people-contract.ts";
import { CHANGED_TABLES, describeStore, type RefusableStoreHarness } from "./store-contract.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(stopPostgresServers);

/** As a full disk does, for all writes into some tables. */
const REFUSE = `CREATE OR REPLACE FUNCTION gatehouse.refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '53100'; END $$`;

async function createHarness(): Promise<RefusableStoreHarness> {
  const url = await server.createFilledDatabase(migrateStore);
  const open: DatabaseStore[] = [];
  let refused: readonly string[] = [];
  return {
    async open() {
      const store = await openTestPostgres({ url });
      open.push(store);
      return store;
    },
    // A killed instance leaves the database as it is.
    async crash() {},
    async refuse(what) {
      refused = what === "notes" ? ["audit"] : CHANGED_TABLES;
      await server.ask(REFUSE, url);
      for (const table of refused)
        await server.ask(
          `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON gatehouse.${table} EXECUTE FUNCTION gatehouse.refuse()`,
          url,
        );
    },
    async allow() {
      for (const table of refused) await server.ask(`DROP TRIGGER refuse ON gatehouse.${table}`, url);
    },
    async dispose() {
      for (const store of open) await store.close();
    },
  };
}

describeStore("the store in PostgreSQL", createHarness);
describePeople("the store in PostgreSQL", createHarness);

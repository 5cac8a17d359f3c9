// The contenders, in the order of the tables. Gatehouse comes first, because the floor sends the answers of Gatehouse.
import type { Contender } from "./contenders/contender.ts";
import { floor, reader } from "./contenders/floor.ts";
import { fastify, hono } from "./contenders/frameworks.ts";
import { gatehouseRedis, gatehouseSqlite } from "./contenders/gatehouse.ts";
import { nginx } from "./contenders/nginx.ts";

export const ROSTER: readonly Contender[] = [gatehouseSqlite, gatehouseRedis, floor, reader, fastify, hono, nginx];
export const FLOOR = floor;
export const OURS = gatehouseSqlite;

// Parked servers: made for another upstream than the one in use. Nothing is asked or sent for them, so that nobody gets
// simulated data for a real server, and the game API never sees a key of the simulator.
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { type GameServer, isParked } from "../../core/game-server.ts";
import type { NoticeFacts } from "../../core/notices.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import { NO_CODE } from "../../core/readings/upstream-codes.ts";
import type { ErrorFields } from "../../core/wire/error.ts";
import { listNoticeServers, type NameServers } from "./name-servers.ts";

const REFUSE_SIMULATED = refuseParkedWith(
  "This server was added on the built-in simulator, and Gatehouse now uses a real game API. Its operator must set the " +
    "server's real key, or start Gatehouse without GATEHOUSE_UPSTREAM_URL.",
);
const REFUSE_REAL = refuseParkedWith(
  "This server was added for a real game API, and Gatehouse now runs on its built-in simulator. Its operator must set " +
    "GATEHOUSE_UPSTREAM_URL, or set the server's key again to use it on the simulator.",
);

/** What callers of a parked server get. */
export function refuseParked({ isSimulated }: Pick<GameServer, "isSimulated">): Refusal {
  return isSimulated ? REFUSE_SIMULATED : REFUSE_REAL;
}

/** Undefined when the server is not parked, or unknown. */
export function findParkedRefusal(
  servers: Pick<ServerStore, "find">,
  isSimulatorInUse: boolean,
  serverId: string,
): Refusal | undefined {
  const server = servers.find(serverId);
  return server && isParked(server, isSimulatorInUse) ? refuseParked(server) : undefined;
}

export function listParked(servers: Pick<ServerStore, "all">, isSimulatorInUse: boolean): readonly GameServer[] {
  return Array.from(servers.all()).filter((server) => isParked(server, isSimulatorInUse));
}

/** The notice about parked servers, all of which the upstream in use does not serve. Nobody knows since when. */
export function listParkedNotices(parked: readonly GameServer[], nameServers: NameServers): NoticeFacts[] {
  const [first] = parked;
  if (!first) return [];
  const about = listNoticeServers(
    parked.map(({ serverId }) => serverId),
    nameServers,
  );
  return [{ code: "parked_servers", ...about, simulated: first.isSimulated }];
}

function refuseParkedWith(message: string): Refusal {
  const fields: ErrorFields["gameApi"] = { upstream_code: NO_CODE, upstream_message: message };
  return refuse(ERRORS.gameApi, fields);
}

// The paths of version 1, which is switched off: each answers every request with 5018.
import { NewCommand } from "../../core/wire/command.ts";
import type { Operation, Operations } from "./operation.ts";
import { COMMUNITY } from "./parameters.ts";

const READS: readonly (readonly [path: string, id: string, purpose: string])[] = [
  ["/v1/game/server", "readServerV1", "General server information"],
  ["/v1/game/server/joinlogs", "readJoinLogsV1", "Join and leave logs"],
  ["/v1/game/server/vehicles", "readVehiclesV1", "Vehicle list"],
  ["/v1/game/server/modcalls", "readModCallsV1", "Moderator call logs"],
  ["/v1/game/server/staff", "readStaffV1", "Staff list"],
  ["/v1/game/server/queue", "readQueueV1", "Queue information"],
  ["/v1/:community/game/server", "readServerOfCommunityV1", "General server information, with a community"],
  ["/v1/:community/game/server/players", "readPlayersOfCommunityV1", "Player list, with a community"],
  ["/v1/:community/game/server/queue", "readQueueOfCommunityV1", "Queue information, with a community"],
];

function describeRetired(id: string, summary: string, rest: Partial<Operation> = {}): Operation {
  return {
    id,
    tag: "Version 1",
    summary,
    description:
      "Switched off: every call is answered 500 with code 5018, with or without a key. Use version 2.",
    isDeprecated: true,
    security: ["apiKey", "optional"],
    answers: {},
    errors: ["obsolete"],
    ...rest,
  };
}

export const LEGACY_OPERATIONS: Operations = {
  ...Object.fromEntries(
    READS.map(([path, id, purpose]) => {
      const parameters = path.includes(":community") ? [COMMUNITY] : [];
      return [`GET ${path}`, describeRetired(id, purpose, { parameters })];
    }),
  ),
  "POST /v1/game/server/command": describeRetired("submitCommandV1", "Send a command", {
    body: {
      schema: NewCommand,
      isRequired: false,
      examples: { hint: { summary: "A hint for everybody", value: { command: ":h Hello" } } },
    },
  }),
};

// Whether the stored servers belong to the upstream that the settings name. The others would be parked.
import type { ServerMark } from "../store/sqlite/read-server-keys.ts";
import { type Finding, warn } from "./finding.ts";

const NAME = "servers";
/** More names would make a sentence unreadable. */
const NAMES_MAX = 10;

export function judgeServerMarks(servers: readonly ServerMark[], isSimulatorInUse: boolean): Finding[] {
  const parked = servers
    .filter(({ isSimulated }) => isSimulated !== isSimulatorInUse)
    .map(({ name }) => name);
  if (parked.length === 0) return [];
  const others = parked.length - NAMES_MAX;
  const names = `${parked.slice(0, NAMES_MAX).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
  return [
    isSimulatorInUse
      ? warn(
          NAME,
          `These servers were added for a real game API and would be parked on the simulator: ${names}.`,
          "Set GATEHOUSE_UPSTREAM_URL. To use one on the simulator: gatehouse servers set-key <server>",
        )
      : warn(
          NAME,
          `These servers were added on the simulator and are parked with a real game API: ${names}.`,
          "Set the real key (gatehouse servers set-key <server>), or remove it (gatehouse servers remove <server>).",
        ),
  ];
}

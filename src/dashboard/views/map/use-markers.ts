// The markers of the newest reading, with those who wait for a moderator and where somebody was killed in the last minute.
import { useMemo, useState } from "react";
import type { Section } from "../../../core/sections.ts";
import type { ServerState } from "../../api/caller.ts";
import { parsePlayerRef } from "../../player-ref.ts";
import { useCallGroups } from "../../state/calls/use-mod-calls.tsx";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useNow } from "../../state/time/use-format.ts";
import { KillMarks } from "./kill-marks.ts";
import { KILL_STEP_MS, listMarkers, type Marker } from "./markers.ts";

/** Kills are left out for a key that may not read them. */
const WANTED: readonly Section[] = ["KillLogs"];

export function useMarkers(state: ServerState): readonly Marker[] {
  useServerState(WANTED);
  const [memory] = useState(() => new KillMarks());
  const ticked = useNow(KILL_STEP_MS);
  // A reading is newer than the last tick.
  // biome-ignore lint/correctness/useExhaustiveDependencies: both mean that time has passed
  const now = useMemo(() => Date.now(), [state, ticked]);
  const kills = memory.read(state, now);
  // Without kills the time changes no marker, and nothing is drawn.
  const at = kills.length > 0 ? now : 0;
  const callers = useCallers();
  return useMemo(() => listMarkers(state, { callers, kills, now: at }), [state, callers, kills, at]);
}

/** The ids of the players whose calls wait. The same set while they are the same. */
function useCallers(): ReadonlySet<string> {
  const groups = useCallGroups();
  const ids = (groups?.open ?? [])
    .filter(({ state }) => state === "waiting")
    .map(({ caller }) => parsePlayerRef(caller).id ?? "")
    .join(" ");
  return useMemo(() => new Set(ids.split(" ")), [ids]);
}

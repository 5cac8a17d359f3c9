// The readings of the keys that are not shown, for the overview. Nothing is read while the tab is hidden.
import { useEffect, useMemo, useState } from "react";
import { type FleetMember, FleetPoll } from "./fleet-poll.ts";
import type { Reading } from "./server-poll.ts";
import { endsSession } from "./session.ts";
import { useKeyRing } from "./use-key-ring.ts";

export function useFleet(): ReadonlyMap<string, Reading> {
  const { ring, refuse } = useKeyRing();
  const [readings, setReadings] = useState<ReadonlyMap<string, Reading>>(new Map());
  const members = useMemo(
    () =>
      ring.keys.flatMap(({ id, session }): FleetMember[] =>
        session?.kind === "caller" && id !== ring.shownId ? [{ id, session }] : [],
      ),
    [ring],
  );
  useEffect(() => {
    const poll = new FleetPoll(members, ({ id }, reading) => {
      setReadings((old) => new Map(old).set(id, reading));
      if (reading.error && endsSession(reading.error)) refuse(id, reading.error);
    });
    const adaptToTab = () => (document.hidden ? poll.stop() : poll.start());
    adaptToTab();
    document.addEventListener("visibilitychange", adaptToTab);
    return () => {
      document.removeEventListener("visibilitychange", adaptToTab);
      poll.stop();
    };
  }, [members, refuse]);
  return readings;
}

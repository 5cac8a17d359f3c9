// Hands the readings of the relay to the recorder, whoever they were made for.
import { readOffline } from "../../core/events/reading.ts";
import { OFFLINE } from "../../core/upstream-codes.ts";
import type { Relay } from "../readings/relay.ts";
import type { Recorder } from "./recorder.ts";

export function recordReadings(
  { listeners }: Pick<Relay, "listeners">,
  recorder: Pick<Recorder, "takeReading" | "takeFailure">,
): void {
  listeners.add("recording events", async ({ serverId, content, gameServer, fetchedAt }) => {
    const about = { at: fetchedAt, gameServer, offline: null };
    recorder.takeReading(serverId, { ...content, ...about });
  });
  listeners.addForFailures(({ serverId, failure, gameServer, at }) => {
    if (failure.code === OFFLINE) recorder.takeReading(serverId, readOffline(at, gameServer, failure));
    else recorder.takeFailure(serverId, failure, at);
  });
}

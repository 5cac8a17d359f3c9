// Hands the readings of the relay to the recorder, whoever they were made for.
import { readOffline } from "../../core/events/reading.ts";
import { OFFLINE } from "../../core/upstream-codes.ts";
import type { Relay } from "../readings/relay.ts";
import type { EventRecorder } from "./event-recorder.ts";

export function recordReadings(
  { listeners }: Pick<Relay, "listeners">,
  recorder: Pick<EventRecorder, "takeReading" | "takeFailure">,
): void {
  listeners.add("recording events", async ({ serverId, content, gameServer, fetchedAt }) => {
    recorder.takeReading(serverId, { ...content, at: fetchedAt, gameServer, offline: null });
  });
  listeners.addForFailures(({ serverId, failure, gameServer, at }) => {
    if (failure.code === OFFLINE) recorder.takeReading(serverId, readOffline(at, gameServer, failure));
    else recorder.takeFailure(serverId, failure, at);
  });
}

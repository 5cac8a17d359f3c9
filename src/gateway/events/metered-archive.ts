// An archive whose calls are counted. Everything uses the archive through this, so that one place knows whether it answers.
import { StoreUnavailable } from "../../core/errors.ts";
import type { NoticeFacts } from "../../core/notices.ts";
import type { Archive, LedgerRecord, RecordOutcome } from "../../core/ports/archive.ts";
import { callArchive, makeArchive } from "../../core/ports/archive-calls.ts";
import type { ArchiveMeter } from "../meters.ts";
import type { Recorder } from "./recorder.ts";

export type ArchiveObserver = Pick<ArchiveMeter, "noteAnswer" | "noteFailure" | "countEvents">;

export function meterArchive(archive: Archive, meter: ArchiveObserver): Archive {
  return makeArchive(async (method, args) => {
    if (method === "close") return archive.close();
    try {
      const answer = await callArchive(archive, method, args);
      meter.noteAnswer();
      if (method === "record") countRecorded(meter, args[0] as LedgerRecord[], answer as RecordOutcome[]);
      return answer;
    } catch (error) {
      meter.noteFailure(error);
      throw error;
    }
  });
}

function countRecorded(
  meter: ArchiveObserver,
  records: readonly LedgerRecord[],
  outcomes: readonly RecordOutcome[],
): void {
  for (const [index, { events }] of records.entries()) {
    const outcome = outcomes[index];
    if (outcome && "version" in outcome) meter.countEvents(events);
  }
}

/** The notice while the archive is away. */
export function listArchiveNotices(
  meter: Pick<ArchiveMeter, "fault">,
  recorder: Pick<Recorder, "fault" | "waitingEvents">,
): NoticeFacts[] {
  // A full disk can still be read, so the recorder is asked first.
  const fault = recorder.fault ?? meter.fault;
  if (fault === undefined) return [];
  const reason = fault instanceof StoreUnavailable ? fault.message : "an unexpected failure; the log has it";
  return [{ code: "archive_away", count: recorder.waitingEvents, reason }];
}

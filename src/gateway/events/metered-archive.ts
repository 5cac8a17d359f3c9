// An archive whose calls are counted: everything that uses the archive does so through this, so that one place knows
// whether it answers.
import { callArchive, makeArchive } from "../../core/archive-calls.ts";
import type { Archive, LedgerRecord, RecordOutcome } from "../../core/ports/archive.ts";
import type { ArchiveMeter } from "./archive-meter.ts";

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

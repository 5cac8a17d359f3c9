// The sentence for operators while the archive is away.
import { StoreUnavailable } from "../../core/errors.ts";
import type { ArchiveMeter } from "./archive-meter.ts";
import type { Recorder } from "./recorder.ts";

/** The reason may name files and hosts, so only operators are told. */
export function listArchiveNotices(
  meter: Pick<ArchiveMeter, "fault">,
  recorder: Pick<Recorder, "fault" | "waitingEvents">,
  isOperator: boolean,
): string[] {
  // A full disk can still be read, so the recorder is asked first.
  const fault = recorder.fault ?? meter.fault;
  if (fault === undefined) return [];
  const reason = isOperator ? ` (${describe(fault)})` : "";
  return [`The archive cannot be used${reason}; ${recorder.waitingEvents} event(s) wait in memory.`];
}

function describe(fault: unknown): string {
  return fault instanceof StoreUnavailable ? fault.message : "an unexpected failure; the log has it";
}

// An event as readers get it: JSON text put together from the stored text, so that its numbers stay exact.
import type { LedgerEvent } from "../ports/archive.ts";
import { writeCursor } from "./cursor.ts";
import { typeOfKind } from "./event-types.ts";

export function writeEvent(serverId: string, event: LedgerEvent): string {
  const { kind, at, seenAt, source, isBackfill, data, meta } = event;
  const id = writeCursor(serverId, event);
  const text = `{"id":"${id}","type":"${typeOfKind(kind)}","at":${at},"seen_at":${seenAt},"source":"${source}","backfill":${isBackfill},"data":${data}`;
  return meta === null ? `${text}}` : `${text},"meta":${meta}}`;
}

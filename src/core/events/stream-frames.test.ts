// The messages and frames of streams.
import { expect, test } from "bun:test";
import type { LedgerEvent } from "../ports/archive.ts";
import { writeCursor } from "./cursor.ts";
import { toEventKind } from "./event-types.ts";
import { EventFrames, writeBye, writeHeartbeat, writeHello } from "./stream-frames.ts";

const EVENT: LedgerEvent = {
  number: 7,
  mark: 9,
  kind: toEventKind("player.killed"),
  at: 1,
  seenAt: 2,
  source: "log",
  isBackfill: false,
  data: '{"Killed":"B:1"}',
  meta: null,
};

test("messages of Server-Sent Events have an id, the type and one line of data", () => {
  expect(writeHello("sse", "c", 5)).toBe('retry: 2000\nid: c\nevent: hello\ndata: {"cursor":"c","server_time":5}\n\n');
  expect(writeHeartbeat("sse", "c")).toBe('id: c\nevent: heartbeat\ndata: {"cursor":"c"}\n\n');
  expect(writeBye("sse", "c", { code: 5008 })).toBe('id: c\nevent: bye\ndata: {"code":5008}\n\n');
  const id = writeCursor("srv_a", EVENT);
  const text = `{"id":"${id}","type":"player.killed","at":1,"seen_at":2,"source":"log","backfill":false,"data":`;
  expect(new EventFrames("srv_a", EVENT).frameOf("sse")).toBe(
    `id: ${id}\nevent: player.killed\ndata: ${text}{"Killed":"B:1"}}\n\n`,
  );
  // A stored text may be written over several lines; a line break would end the message's data.
  const broken = new EventFrames("srv_a", { ...EVENT, data: '{\r\n"Killed":\n"B:1"\r}' }).frameOf("sse");
  expect(broken).toBe(`id: ${id}\nevent: player.killed\ndata: ${text}{ "Killed": "B:1" }}\n\n`);
});

test("frames of a WebSocket are JSON with an op", () => {
  expect(JSON.parse(writeHello("socket", "c", 5))).toEqual({ op: "hello", cursor: "c", server_time: 5 });
  expect(JSON.parse(writeHeartbeat("socket", "c"))).toEqual({ op: "heartbeat", cursor: "c" });
  expect(JSON.parse(writeBye("socket", "c", { reason: "restart" }))).toEqual({
    op: "bye",
    reason: "restart",
  });
  expect(JSON.parse(new EventFrames("srv_a", EVENT).frameOf("socket"))).toMatchObject({
    op: "event",
    event: { id: writeCursor("srv_a", EVENT), data: { Killed: "B:1" } },
  });
});

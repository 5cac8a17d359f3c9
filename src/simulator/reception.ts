// Where requests come in: tells game calls from control calls, lets an armed fault spoil the former, and writes each down.
import type { IncomingMessage, ServerResponse } from "node:http";
import { parseSections, toSectionNames } from "../core/sections.ts";
import type { Fault } from "./armed-faults.ts";
import type { CallRecord } from "./call-log.ts";
import { answerControl, type ControlDesk, isControlPath } from "./control-desk.ts";
import {
  type DeliveryTimers,
  resetConnection,
  send,
  sendHuge,
  sendInDrips,
  sendLate,
  sendTruncated,
} from "./delivery.ts";
import { findFaultAnswer } from "./fault-answers.ts";
import { spoilShapes } from "./odd-shapes.ts";
import { findCommand, type GameCall, type Protocol } from "./protocol.ts";
import { type Answer, answerJson } from "./refusals.ts";
import { serverIdOf } from "./server-keys.ts";

const BODY_BYTES_MAX = 65_536;

export type Reception = { desk: ControlDesk; protocol: Protocol; timers: DeliveryTimers };

type GameRoute = { kind: "read" | "command"; method: string };
const GAME_ROUTES: ReadonlyMap<string, GameRoute> = new Map([
  ["/v2/server", { kind: "read", method: "GET" }],
  ["/v2/server/command", { kind: "command", method: "POST" }],
]);

type Arrival = { request: IncomingMessage; method: string; path: string; query: string; body: string };

export async function receive(
  reception: Reception,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // By the simulator's own clock, which a test may have set: limits and their times must agree with it.
  response.setHeader("Date", new Date(reception.desk.clock()).toUTCString());
  const body = await readBody(request);
  const { path, query } = splitTarget(request.url ?? "/");
  const arrival: Arrival = { request, method: request.method ?? "GET", path, query, body: body ?? "" };
  if (isControlPath(path)) return send(response, answerControl(reception.desk, arrival));
  const route = GAME_ROUTES.get(path);
  if (!route || route.method !== arrival.method) return turnAway(reception, arrival, response, route);
  handleGameCall(reception, arrival, route, response);
}

/** Undefined when the body is larger than any honest one; the rest is read and thrown away. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  return size <= BODY_BYTES_MAX ? Buffer.concat(chunks).toString("utf8") : undefined;
}

function splitTarget(target: string): { path: string; query: string } {
  // Proxies send the absolute form; what follows the host is what counts.
  const local = target.replace(/^https?:\/\/[^/]*/i, "");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

function turnAway(
  { desk }: Reception,
  { request, method, path }: Arrival,
  response: ServerResponse,
  route: GameRoute | undefined,
): void {
  const answer = route
    ? answerJson(405, { code: 0, message: "Method Not Allowed" }, { Allow: route.method })
    : answerJson(404, { code: 0, message: "Not Found" });
  const server = serverIdOf(headerOf(request, "server-key"));
  const entry = desk.calls.record({ at: desk.clock(), method, path, kind: "other", server, sections: [] });
  desk.calls.settle(entry, answer.status, answer.code);
  send(response, answer);
}

function handleGameCall(
  reception: Reception,
  arrival: Arrival,
  { kind }: GameRoute,
  response: ServerResponse,
): void {
  const { desk } = reception;
  const { request, method, path, query, body } = arrival;
  const call: GameCall = {
    kind,
    query,
    body,
    serverKey: headerOf(request, "server-key"),
    globalKey: headerOf(request, "authorization"),
    source: request.socket.remoteAddress ?? "",
  };
  const server = serverIdOf(call.serverKey);
  const at = desk.clock();
  const fault = desk.faults.meet({ kind, server }, at);
  const sections = kind === "read" ? toSectionNames(parseSections(query)) : [];
  const command = kind === "command" ? findCommand(body) : undefined;
  const entry = desk.calls.record({
    ...{ at, method, path, kind, server, sections },
    ...(command === undefined ? {} : { command }),
    ...(fault === undefined ? {} : { fault: fault.kind }),
  });
  if (fault) meetFault(reception, fault, call, entry, response);
  else send(response, settle(reception, entry, reception.protocol.answer(call)));
}

function meetFault(
  reception: Reception,
  fault: Fault,
  call: GameCall,
  entry: CallRecord,
  response: ServerResponse,
): void {
  const { desk, protocol, timers } = reception;
  const answerHonestly = () => settle(reception, entry, protocol.answer(call));
  switch (fault.kind) {
    case "hang":
      if (fault.isSet("acts")) protocol.answer(call);
      break;
    case "reset":
      if (fault.isSet("acts")) protocol.answer(call);
      resetConnection(response);
      break;
    case "refused":
      // Armed a moment ago, and the port is about to close: this call came too late already.
      resetConnection(response);
      break;
    case "slow":
      sendLate(response, answerHonestly(), fault.findNumber("ms") ?? 0, timers);
      break;
    case "truncated":
      sendTruncated(response, answerHonestly(), timers);
      break;
    case "drip":
      sendInDrips(response, answerHonestly(), fault.findNumber("ms") ?? 0, timers);
      break;
    case "huge":
      desk.calls.settle(entry, 200, undefined);
      sendHuge(response, fault);
      break;
    case "odd-shapes":
      call.distort = (answer) => spoilShapes(answer, fault.turn, fault.isSet("required"));
      send(response, answerHonestly());
      break;
    default:
      send(response, settle(reception, entry, findFaultAnswer(fault, desk.clock()) ?? protocol.answer(call)));
  }
}

function settle({ desk }: Reception, entry: CallRecord, answer: Answer): Answer {
  desk.calls.settle(entry, answer.status, answer.code);
  return answer;
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return (Array.isArray(value) ? value.join(",") : (value ?? "")).trim();
}

// Handles every HTTP request of the simulator: control requests, and game API calls with any fault that applies to them.
import type { IncomingMessage, ServerResponse } from "node:http";
import { parseSections, toSectionNames } from "../core/sections.ts";
import type { CallLog, CallRecord } from "./call-log.ts";
import { type ControlApi, isControlPath } from "./control-api.ts";
import { type Answer, answerJson, findFaultAnswer } from "./error-answers.ts";
import type { Fault, FaultList } from "./fault-kinds.ts";
import { findLogChanges } from "./log-faults.ts";
import { corruptShapes } from "./odd-shapes.ts";
import { findCommand, type GameCall, type Protocol, serverIdOf } from "./protocol.ts";
import { ALL_QUIRKS_ALWAYS } from "./quirks.ts";
import {
  type ResponseTimers,
  resetConnection,
  send,
  sendByteByByte,
  sendDelayed,
  sendHuge,
  sendTruncated,
} from "./response-writer.ts";

const BODY_BYTES_MAX = 65_536;

export type RequestHandlerDeps = {
  readonly faults: FaultList;
  readonly calls: CallLog;
  readonly control: ControlApi;
  readonly protocol: Protocol;
  readonly timers: ResponseTimers;
  readonly clock: () => number;
};

type GameRoute = { kind: "read" | "command"; method: string };
const GAME_ROUTES: ReadonlyMap<string, GameRoute> = new Map([
  ["/v2/server", { kind: "read", method: "GET" }],
  ["/v2/server/command", { kind: "command", method: "POST" }],
]);

type ParsedRequest = { request: IncomingMessage; method: string; path: string; query: string; body: string };

export class RequestHandler {
  constructor(private readonly deps: RequestHandlerDeps) {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A test may have set the simulator's clock; the Date header must agree with the times in rate-limit headers.
    response.setHeader("Date", new Date(this.deps.clock()).toUTCString());
    const body = await readBody(request);
    const { path, query } = splitTarget(request.url ?? "/");
    const parsed: ParsedRequest = { request, method: request.method ?? "GET", path, query, body: body ?? "" };
    if (isControlPath(path)) return send(response, this.deps.control.answer(parsed));
    const route = GAME_ROUTES.get(path);
    if (route?.method === parsed.method) this.#handleGameCall(parsed, route, response);
    else this.#refuseRoute(parsed, response, route);
  }

  /** 405 for a known path with the wrong method, else 404. */
  #refuseRoute({ request, method, path }: ParsedRequest, response: ServerResponse, route: GameRoute | undefined): void {
    const { calls, clock } = this.deps;
    const answer = route
      ? answerJson(405, { code: 0, message: "Method Not Allowed" }, { Allow: route.method })
      : answerJson(404, { code: 0, message: "Not Found" });
    const server = serverIdOf(headerOf(request, "server-key"));
    const entry = calls.record({ at: clock(), method, path, kind: "other", server, sections: [] });
    send(response, this.#finish(entry, answer));
  }

  #handleGameCall(parsed: ParsedRequest, { kind }: GameRoute, response: ServerResponse): void {
    const { faults, calls, protocol, clock } = this.deps;
    const { request, method, path, query, body } = parsed;
    const call: GameCall = {
      kind,
      query,
      body,
      serverKey: headerOf(request, "server-key"),
      globalKey: headerOf(request, "authorization"),
      source: request.socket.remoteAddress ?? "",
    };
    const server = serverIdOf(call.serverKey);
    const at = clock();
    const fault = faults.take({ kind, server }, at);
    const sections = kind === "read" ? toSectionNames(parseSections(query)) : [];
    const command = kind === "command" ? findCommand(body) : undefined;
    const entry = calls.record({
      ...{ at, method, path, kind, server, sections },
      ...(command === undefined ? {} : { command }),
      ...(fault === undefined ? {} : { fault: fault.kind }),
    });
    if (fault) this.#applyFault(fault, call, entry, response);
    else send(response, this.#finish(entry, protocol.answer(call)));
  }

  #applyFault(fault: Fault, call: GameCall, entry: CallRecord, response: ServerResponse): void {
    const { calls, protocol, timers, clock } = this.deps;
    const answerNormally = () => this.#finish(entry, protocol.answer(call));
    const { settings, callsBefore } = fault;
    switch (fault.kind) {
      case "hang":
        if (settings.acts) protocol.answer(call);
        break;
      case "reset":
        if (settings.acts) protocol.answer(call);
        resetConnection(response);
        break;
      case "refused":
        // The fault was armed a moment ago and the port is about to close.
        resetConnection(response);
        break;
      case "slow":
        sendDelayed(response, answerNormally(), Number(settings.ms), timers);
        break;
      case "truncated":
        sendTruncated(response, answerNormally(), timers);
        break;
      case "drip":
        sendByteByByte(response, answerNormally(), Number(settings.ms), timers);
        break;
      case "huge":
        calls.finish(entry, 200, undefined);
        sendHuge(response, Number(settings.bytes), settings.gzip === true);
        break;
      case "odd-shapes":
        call.quirks = ALL_QUIRKS_ALWAYS;
        call.distort = (answer) => corruptShapes(answer, callsBefore, settings.required === true);
        send(response, answerNormally());
        break;
      default:
        Object.assign(call, findLogChanges(fault));
        send(response, this.#finish(entry, findFaultAnswer(fault, clock()) ?? protocol.answer(call)));
    }
  }

  #finish(entry: CallRecord, answer: Answer): Answer {
    this.deps.calls.finish(entry, answer.status, answer.code);
    return answer;
  }
}

/** Undefined when the body is too large; the rest of it is read and discarded. */
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
  // Proxies send the absolute form: drop scheme and host.
  const local = target.replace(/^https?:\/\/[^/]*/i, "");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return (Array.isArray(value) ? value.join(",") : (value ?? "")).trim();
}

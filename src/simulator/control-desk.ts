// The two addresses that the real game API does not have: /_faults arms and clears faults, /_calls tells what was asked.
import { ARMED_MAX, type ArmedFault, type ArmedFaults } from "./armed-faults.ts";
import type { CallLog } from "./call-log.ts";
import { describeMenu, parseFault } from "./fault-menu.ts";
import { type Answer, answerJson } from "./refusals.ts";

export type ControlDesk = {
  faults: ArmedFaults;
  calls: CallLog;
  clock: () => number;
  /** Called when a fault of kind `refused` was armed. */
  pause: (seconds: number) => void;
  /** Called when all faults are cleared: a pause that has not begun does not. */
  stayOpen: () => void;
};

export type ControlRequest = { method: string; path: string; query: string; body: string };

export function isControlPath(path: string): boolean {
  return path === "/_faults" || path === "/_calls";
}

export function answerControl(desk: ControlDesk, request: ControlRequest): Answer {
  return request.path === "/_faults" ? answerFaults(desk, request) : answerCalls(desk, request);
}

function answerFaults(desk: ControlDesk, { method, body }: ControlRequest): Answer {
  const nowMs = desk.clock();
  switch (method) {
    case "GET":
      return answerJson(200, { kinds: describeMenu(), armed: desk.faults.list(nowMs).map(describeFault) });
    case "POST":
      return armFromJson(desk, body);
    case "DELETE":
      desk.faults.clear();
      desk.stayOpen();
      return answerJson(200, { armed: [] });
    default:
      return answerJson(405, { message: "Method Not Allowed" }, { Allow: "GET, POST, DELETE" });
  }
}

function armFromJson(desk: ControlDesk, body: string): Answer {
  let wish: unknown;
  try {
    wish = JSON.parse(body);
  } catch {
    return answerJson(400, { message: "body: must be JSON", field: "body" });
  }
  return answerArming(armFault(desk, wish));
}

export type Arming = { fault: ArmedFault } | { field: string; message: string };

export function armFault(desk: ControlDesk, wish: unknown): Arming {
  const parsed = parseFault(wish);
  if (!("order" in parsed)) return { field: parsed.field, message: `${parsed.field}: ${parsed.problem}` };
  const fault = desk.faults.arm(parsed.order, desk.clock());
  if (!fault)
    return { field: "kind", message: `kind: ${ARMED_MAX} faults are armed already; clear them first` };
  if (fault.kind === "refused") desk.pause(fault.seconds ?? 0);
  return { fault };
}

function answerArming(arming: Arming): Answer {
  return "fault" in arming ? answerJson(201, describeFault(arming.fault)) : answerJson(400, arming);
}

function describeFault({ id, kind, settings, server, target, times, met, untilMs }: ArmedFault): unknown {
  return {
    id,
    kind,
    ...settings,
    server,
    target,
    times_left: times === null ? null : times - met,
    met,
    until: untilMs,
  };
}

function answerCalls(desk: ControlDesk, { method, query }: ControlRequest): Answer {
  switch (method) {
    case "GET": {
      const since = new URLSearchParams(query).get("since") ?? "0";
      if (!/^\d{1,15}$/.test(since))
        return answerJson(400, { field: "since", message: "since: must be a whole number" });
      return answerJson(200, desk.calls.list(Number(since)));
    }
    case "DELETE":
      desk.calls.clear();
      return answerJson(200, desk.calls.list());
    default:
      return answerJson(405, { message: "Method Not Allowed" }, { Allow: "GET, DELETE" });
  }
}

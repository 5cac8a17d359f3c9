// The endpoints that the real game API does not have: /_faults arms and clears faults, /_calls lists the calls so far,
// /_entries lists every log entry of a town.
import type { CallLog } from "./call-log.ts";
import { type Answer, answerJson } from "./error-answers.ts";
import { type ArmedFault, describeFaultKinds, FAULTS_MAX, type FaultList, parseFault } from "./fault-kinds.ts";
import type { EntryList } from "./protocol.ts";

export type ControlDeps = {
  readonly faults: FaultList;
  readonly calls: CallLog;
  /** Undefined when no call has created the town. */
  readonly findEntries: (server: string, since: number) => EntryList | undefined;
  readonly clock: () => number;
  /** Closes the port for a fault of kind `refused`. */
  readonly pausePort: (seconds: number) => void;
  /** Cancels a pause that has not begun yet. */
  readonly cancelPause: () => void;
};

export type ControlRequest = { method: string; path: string; query: string; body: string };

export type ArmingResult = { fault: ArmedFault } | { field: string; message: string };

export function isControlPath(path: string): boolean {
  return path === "/_faults" || path === "/_calls" || path === "/_entries";
}

export class ControlApi {
  constructor(private readonly deps: ControlDeps) {}

  answer(request: ControlRequest): Answer {
    switch (request.path) {
      case "/_faults":
        return this.#answerFaults(request);
      case "/_calls":
        return this.#answerCalls(request);
      default:
        return this.#answerEntries(request);
    }
  }

  /** `json` is the parsed body of `POST /_faults`. */
  arm(json: unknown): ArmingResult {
    const { faults, clock, pausePort } = this.deps;
    const parsed = parseFault(json);
    if (!("request" in parsed)) return { field: parsed.field, message: `${parsed.field}: ${parsed.problem}` };
    const fault = faults.arm(parsed.request, clock());
    if (!fault) return { field: "kind", message: `kind: ${FAULTS_MAX} faults are armed already; clear them first` };
    if (fault.kind === "refused") pausePort(fault.seconds ?? 0);
    return { fault };
  }

  clearFaults(): void {
    this.deps.faults.clear();
    this.deps.cancelPause();
  }

  #answerFaults({ method, body }: ControlRequest): Answer {
    switch (method) {
      case "GET": {
        const armed = this.deps.faults.list(this.deps.clock()).map(describeFault);
        return answerJson(200, { kinds: describeFaultKinds(), armed });
      }
      case "POST":
        return this.#armFromBody(body);
      case "DELETE":
        this.clearFaults();
        return answerJson(200, { armed: [] });
      default:
        return answerJson(405, { message: "Method Not Allowed" }, { Allow: "GET, POST, DELETE" });
    }
  }

  #armFromBody(body: string): Answer {
    let json: unknown;
    try {
      json = JSON.parse(body);
    } catch {
      return answerJson(400, { message: "body: must be JSON", field: "body" });
    }
    const result = this.arm(json);
    return "fault" in result ? answerJson(201, describeFault(result.fault)) : answerJson(400, result);
  }

  #answerCalls({ method, query }: ControlRequest): Answer {
    const { calls } = this.deps;
    switch (method) {
      case "GET": {
        const since = findSince(new URLSearchParams(query));
        return since === undefined ? answerBadSince() : answerJson(200, calls.list(since));
      }
      case "DELETE":
        calls.clear();
        return answerJson(200, calls.list());
      default:
        return answerJson(405, { message: "Method Not Allowed" }, { Allow: "GET, DELETE" });
    }
  }

  #answerEntries({ method, query }: ControlRequest): Answer {
    if (method !== "GET") return answerJson(405, { message: "Method Not Allowed" }, { Allow: "GET" });
    const parameters = new URLSearchParams(query);
    const server = parameters.get("server");
    if (!server)
      return answerJson(400, { field: "server", message: "server: must be the part of a server key after the hyphen" });
    const since = findSince(parameters);
    if (since === undefined) return answerBadSince();
    const entries = this.deps.findEntries(server, since);
    if (!entries) return answerJson(404, { field: "server", message: "server: no call has been made for it" });
    return answerJson(200, entries);
  }
}

/** Undefined when `since` is no whole number; 0 when it is left out. */
function findSince(query: URLSearchParams): number | undefined {
  const since = query.get("since") ?? "0";
  return /^\d{1,15}$/.test(since) ? Number(since) : undefined;
}

function answerBadSince(): Answer {
  return answerJson(400, { field: "since", message: "since: must be a whole number" });
}

function describeFault({ id, kind, settings, server, target, times, calls, untilMs }: ArmedFault): unknown {
  return {
    id,
    kind,
    ...settings,
    server,
    target,
    times_left: times === null ? null : times - calls,
    met: calls,
    until: untilMs,
  };
}

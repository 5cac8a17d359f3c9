// What every client of Gatehouse does: cases.json, a table of scripted answers with what a client must ask, wait, return or raise.
// The client in TypeScript passes it here, the one in Python in python.test.ts.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { parseExactJson } from "../../packages/client/src/exact-json.ts";
import { Gatehouse } from "../../packages/client/src/gatehouse.ts";
import { GatehouseError } from "../../packages/client/src/gatehouse-error.ts";
import { pages } from "../../packages/client/src/pages.ts";
import { player } from "../../packages/client/src/players.ts";
import { type Fetch, Transport } from "../../packages/client/src/transport.ts";
import { verifyWebhook } from "../../packages/client/src/verify-webhook.ts";

type Fields = Readonly<Record<string, unknown>>;

type ScriptedAnswer = {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: readonly string[];
  /** Seconds that pass before it. */
  readonly takes?: number;
};

type Asked = {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly has?: readonly string[];
  readonly body?: unknown;
};

/** Names are those of Python; `from` is `from_` there. */
type Case = {
  readonly title: string;
  /** One of these says what is done. */
  readonly call?: string;
  readonly pages?: string;
  readonly events?: Fields;
  readonly split?: string;
  readonly webhook?: Fields;
  readonly args?: readonly unknown[];
  readonly with?: Fields;
  /** A method of what the call gives. */
  readonly then?: string;
  /** How many events are taken. */
  readonly takes?: number;
  /** Where the cursor of a page goes. */
  readonly cursor?: string;
  readonly answers?: readonly (ScriptedAnswer | "lost" | "late")[];
  readonly asks?: readonly Asked[];
  readonly waits?: readonly number[];
  readonly outages?: number;
  readonly returns?: unknown;
  /** `mistake`: the caller's own. */
  readonly raises?: Fields | "mistake";
  readonly limit?: Fields;
  /** The cursor of the stream at the end. */
  readonly at?: string;
};

const CASES = parseExactJson(await Bun.file(join(import.meta.dir, "cases.json")).text()) as readonly Case[];
const TOKEN = "gth_test";

function writeJson(value: unknown): string {
  // A bigint is written as it is.
  const text = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `bigint ${each}` : each));
  return text.replaceAll(/"bigint (\d+)"/g, "$1");
}

function toCamel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function toOptions(fields: Fields = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [toCamel(name), value]));
}

/** A client whose answers are those of the case, one after the other. */
function openStage({ answers = [] }: Case) {
  const left = [...answers];
  const asked: { url: URL; init: RequestInit }[] = [];
  const waits: number[] = [];
  const outages: unknown[] = [];
  let now = 0;
  const fetch: Fetch = async (url, init) => {
    asked.push({ url: new URL(url), init });
    const answer = left.shift();
    if (answer === undefined) throw new Error("the case has no further answer");
    if (answer === "lost") throw new TypeError("fetch failed");
    if (answer === "late") return new Promise<Response>(() => {});
    now += (answer.takes ?? 0) * 1000;
    if (!answer.stream) {
      const text = answer.text ?? (answer.body === undefined ? "" : writeJson(answer.body));
      return new Response(text, { status: answer.status ?? 200, headers: answer.headers ?? {} });
    }
    const body = new ReadableStream({
      start(controller) {
        for (const piece of answer.stream ?? []) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
  };
  const options = { baseUrl: "http://127.0.0.1:1/gate/", token: TOKEN, timeoutMs: 20, fetch };
  const transport = new Transport(options, async (ms) => {
    waits.push(ms / 1000);
    now += ms;
  });
  return { gatehouse: new Gatehouse(options, transport, () => now), asked, waits, outages, left };
}

type Stage = ReturnType<typeof openStage>;
type Method = (...args: unknown[]) => unknown;

function findMethod(gatehouse: Gatehouse, name: string): Method {
  const path = name.split(".").map(toCamel);
  const last = path.pop() ?? "";
  const owner = path.reduce<unknown>((object, part) => (object as Fields)[part], gatehouse) as Readonly<
    Record<string, Method>
  >;
  return (...args) => owner[last]?.(...args);
}

async function act(each: Case, { gatehouse, outages }: Stage): Promise<unknown> {
  const { call, args = [], then, webhook, split } = each;
  if (split !== undefined) return player.split(split);
  if (webhook) {
    const request = { ...webhook, now: Number(webhook.now) * 1000 } as unknown as Parameters<typeof verifyWebhook>[0];
    return verifyWebhook(request);
  }
  const options = toOptions(each.with);
  if (each.pages !== undefined) {
    const read = findMethod(gatehouse, each.pages);
    const name = each.cursor ?? "cursor";
    const all = [];
    for await (const page of pages(
      async (cursor) => (await read({ ...options, ...(cursor !== undefined && { [name]: cursor }) })) as { next: null },
    ))
      all.push(page);
    return all;
  }
  if (each.events) {
    const events = gatehouse.events({ ...toOptions(each.events), onOutage: (error) => outages.push(error) });
    const taken: unknown[] = [];
    for await (const event of events) if (taken.push(event) === each.takes) break;
    expect(events.cursor).toBe(each.at);
    return taken;
  }
  const result = await findMethod(gatehouse, call ?? "")(...args, options);
  return then === undefined ? result : findMethod(result as Gatehouse, then)();
}

function describeRequest({ url, init }: { url: URL; init: RequestInit }, wanted: Asked): Asked {
  const headers = new Headers(init.headers);
  expect(headers.get("Authorization")).toBe(`Bearer ${TOKEN}`);
  for (const name of wanted.has ?? []) expect(headers.get(name)).not.toBeNull();
  return {
    method: init.method ?? "",
    path: url.pathname.replace(/^\/gate/, ""),
    ...(wanted.query && { query: Object.fromEntries(url.searchParams) }),
    ...(wanted.headers && {
      headers: Object.fromEntries(Object.keys(wanted.headers).map((name) => [name, headers.get(name) ?? ""])),
    }),
    ...(wanted.has && { has: wanted.has }),
    ...("body" in wanted && { body: init.body === undefined ? null : JSON.parse(String(init.body)) }),
  };
}

function describeError(error: GatehouseError, wanted: Fields): Fields {
  const all: Fields = {
    code: error.code,
    status: error.status,
    retry_after: error.retryAfter,
    details: error.details,
    upstream_code: error.upstreamCode,
    upstream_message: error.upstreamMessage,
    idempotency_key: error.idempotencyKey ?? null,
    text: error.message,
  };
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, all[name]]));
}

test.each(CASES.map((each) => [each.title, each] as const))("in TypeScript, %s", async (_, each) => {
  const stage = openStage(each);
  const outcome = await act(each, stage).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) {
    const { error } = outcome;
    if (each.raises === "mistake") expect(error).toBeInstanceOf(TypeError);
    else if (!(error instanceof GatehouseError) || !each.raises) throw error;
    else expect(describeError(error, each.raises)).toEqual(each.raises);
  } else {
    expect(each.raises).toBeUndefined();
    const { returns } = each;
    // A handle has more than what can be written down.
    if (each.call === "commands.send") expect(outcome.value).toMatchObject(returns as object);
    else expect(outcome.value).toEqual(returns);
  }
  if (each.asks) {
    expect(stage.asked.map((request, index) => describeRequest(request, each.asks?.[index] ?? ({} as Asked)))).toEqual([
      ...each.asks,
    ]);
  }
  if (each.waits) {
    // Those of a stream are spread by a quarter, up or down.
    const spread = each.events ? 0.25 : 0;
    expect(stage.waits).toHaveLength(each.waits.length);
    for (const [index, wait] of each.waits.entries()) {
      expect(stage.waits[index]).toBeGreaterThanOrEqual(wait * (1 - spread));
      expect(stage.waits[index]).toBeLessThanOrEqual(wait * (1 + spread));
    }
  }
  expect(stage.left).toEqual([]);
  if (each.outages !== undefined) expect(stage.outages).toHaveLength(each.outages);
  if (each.limit) {
    const { limit, remaining, resetAt } = stage.gatehouse.limit ?? {};
    expect<Fields>({ limit, remaining, reset_at: resetAt }).toEqual(each.limit);
  }
});

// Turns results into the generated part of docs/benchmarks.md, its charts, and the further tables of bench/details.md.
import { CASES } from "./cases.ts";
import { type BarGroup, drawBars, drawLine } from "./charts.ts";
import { type ClientsRow, FRESH_MS } from "./clients.ts";
import type { CommandResults } from "./commands.ts";
import { isMet, listGoals } from "./goals.ts";
import type { GrowthResults, GrowthRow } from "./growth.ts";
import type { PathResults } from "./paths.ts";
import { ROSTER } from "./roster.ts";
import { CONNECTIONS, READ_KEYS, REFUSAL_KEYS, type Settings } from "./settings.ts";

export type Results = {
  readonly machine: readonly (readonly [what: string, value: string])[];
  readonly command: string;
  readonly date: string;
  readonly settings: Settings;
  readonly minutes: number;
  readonly paths?: PathResults;
  readonly growth?: GrowthResults;
  readonly clients?: readonly ClientsRow[];
  readonly commands?: CommandResults;
};

export type Report = {
  readonly markdown: string;
  readonly details: string;
  readonly charts: ReadonlyMap<string, string>;
};

export function writeReport(results: Results): Report {
  const charts = new Map<string, string>();
  const { paths, growth, clients, commands } = results;
  const sections = [
    describeRun(results),
    paths && growth && describeGoals(paths, growth),
    paths && describePaths(paths, charts),
    clients && describeClients(clients, charts),
  ];
  const details = [
    describeMachine(results),
    paths && describeDetails(paths),
    growth && describeGrowth(growth, charts),
    commands && describeCommands(commands, charts),
  ];
  const join = (parts: readonly (string | undefined)[]) => wrapProse(parts.filter(Boolean).join("\n\n"));
  return { markdown: join(sections), details: join(details), charts };
}

function describeRun({ command, date, settings, minutes }: Results): string {
  const { rounds, roundSeconds, isQuick } = settings;
  return [
    "## The run",
    ...(isQuick ? ["**A quick run: too short to prove anything. Run it without `--quick` for numbers.**"] : []),
    `Made by \`${command}\` on ${date}, in ${minutes} minutes: ${rounds} rounds of ${roundSeconds} s for each number, turn ` +
      `about, everybody started anew for each round, ${CONNECTIONS} connections, ${READ_KEYS.toLocaleString("en")} keys in turn.`,
  ].join("\n\n");
}

function describeMachine({ machine, date }: Results): string {
  return [`The machine of ${date}:`, machine.map(([what, value]) => `- ${what}: ${value}`).join("\n")].join("\n\n");
}

function describeGoals(paths: PathResults, growth: GrowthResults): string {
  return [
    "## Goals",
    "What Gatehouse (SQLite, unless the line says otherwise) wants to reach, and what this run has found:",
    table(
      ["", "wanted", "found", ""],
      listGoals(paths, growth).map((goal) => [
        goal.name,
        `${goal.isAtLeast ? "≥" : "≤"} ${goal.wanted}`,
        Number.isFinite(goal.found) ? String(Number(goal.found.toPrecision(3))) : "–",
        Number.isFinite(goal.found) ? (isMet(goal) ? "met" : "missed") : "not measured",
      ]),
    ),
  ].join("\n\n");
}

function describePaths(paths: PathResults, charts: Map<string, string>): string {
  const { contenders, leftOut, bodyBytes } = paths;
  const barsOf = (caseIds: readonly string[]): BarGroup[] =>
    CASES.filter(({ id }) => caseIds.includes(id)).map(({ id: caseId, title }) => ({
      title,
      bars: contenders.map(({ contender: { id, name } }) => ({
        label: name,
        value: findRow(paths, id, caseId)?.ratio ?? Number.NaN,
        colour: ROSTER.findIndex((contender) => contender.id === id),
      })),
    }));
  const reads = ["read-base", "read-all"];
  const others = CASES.map(({ id }) => id).filter((id) => !reads.includes(id));
  const title = "Requests per second beside the floor's (1 = bare Bun.serve)";
  charts.set("reads.svg", drawBars(`${title}: cached reads`, barsOf(reads), ratio));
  charts.set("other-paths.svg", drawBars(`${title}: other paths`, barsOf(others), ratio));
  charts.set(
    "memory.svg",
    drawBars(
      "Resident memory, MB",
      [
        {
          title: "after the load",
          bars: contenders.map(({ contender, loadedMb }) => ({
            label: contender.name,
            value: loadedMb,
            colour: ROSTER.indexOf(contender),
          })),
        },
      ],
      (value) => value.toFixed(0),
    ),
  );
  const bytes = `${bodyBytes["read-base"]} bytes base only, ${bodyBytes["read-all"]} bytes with the nine sections`;
  return [
    "## Beside the alternatives",
    `Requests per second as a part of the floor's, larger is better. Bodies: ${bytes}.`,
    grid(paths, (row) => ratio(row.ratio)),
    ...leftOut.map(({ name, reason }) => `Left out: ${name}, because ${reason}.`),
    image("reads.svg", "Cached reads beside the floor"),
    image("other-paths.svg", "Other paths beside the floor"),
    `Resident memory in MB, with ${(READ_KEYS + REFUSAL_KEYS).toLocaleString("en")} keys: after the start, and after all of the load.`,
    table(
      ["", "idle", "after the load"],
      contenders.map(({ contender, idleMb, loadedMb }) => [
        contender.name,
        contender.checksNoKeys ? `${idleMb.toFixed(0)} (no keys)` : idleMb.toFixed(0),
        loadedMb.toFixed(0),
      ]),
    ),
    image("memory.svg", "Resident memory after the load"),
  ].join("\n\n");
}

function describeDetails(paths: PathResults): string {
  return [
    "## Beside the floor",
    "99 of 100 answers came within this many times the floor's time, smaller is better:",
    grid(paths, (row) => ratio(row.p99Ratio)),
    "The server's processor time for a request, in times of the floor's, smaller is better. It is the steadier number where " +
      "others use the machine too; what Redis takes is not in it:",
    grid(paths, (row) => ratio(row.cpuRatio)),
    "The same in absolute numbers, which are this machine's and this hour's: requests per second; the middle and the 99th " +
      "percentile of the time to an answer in milliseconds; processor time of a request in microseconds; the largest round over " +
      "the smallest (near 1 on a quiet machine).",
    grid(
      paths,
      (row) =>
        `${whole(row.perSecond)}/s · ${row.p50Ms.toFixed(1)} · ${row.p99Ms.toFixed(1)} · ${row.cpuMicros.toFixed(1)} · ${row.spread.toFixed(2)}`,
    ),
  ].join("\n\n");
}

type PathRow = PathResults["rows"][number];

function findRow({ rows }: PathResults, contenderId: string, caseId: string): PathRow | undefined {
  return rows.find((row) => row.contenderId === contenderId && row.benchCase.id === caseId);
}

/** A row for each contender, a column for each case. */
function grid(paths: PathResults, format: (row: PathRow) => string): string {
  return table(
    ["", ...CASES.map(({ title }) => title)],
    paths.contenders.map(({ contender: { id, name } }) => [
      name,
      ...CASES.map((benchCase) => {
        const row = findRow(paths, id, benchCase.id);
        return row ? format(row) : "";
      }),
    ]),
  );
}

function describeGrowth({ keys, servers }: GrowthResults, charts: Map<string, string>): string {
  const rows = (sizes: readonly GrowthRow[]) =>
    table(
      ["", "requests/s beside the first", "processor time", "requests/s", "p99 ms", "start ms", "idle MB", "loaded MB"],
      sizes.map((size) => [
        size.label,
        ratio(size.ratio),
        ratio(size.cpuRatio),
        whole(size.perSecond),
        size.p99Ms.toFixed(1),
        whole(size.startMs),
        size.idleMb.toFixed(1),
        size.loadedMb.toFixed(1),
      ]),
    );
  const bars = (title: string, sizes: readonly GrowthRow[]) => ({
    title,
    bars: sizes.map((size) => ({ label: size.label, value: size.ratio, colour: 0 })),
  });
  const groups = [bars("keys, base only", keys), bars("servers, nine sections", servers)];
  charts.set("growth.svg", drawBars("Throughput beside the smallest size", groups, ratio));
  return [
    "## Growth",
    "Gatehouse (SQLite) alone. All keys take turns unless the row says otherwise; the clock is hurried, so that one key can be " +
      "used as fast as many.",
    rows(keys),
    ...describeKeyMemory(keys),
    `The same with servers, each with a reading of its own, and ${READ_KEYS.toLocaleString("en")} keys:`,
    rows(servers),
    image("growth.svg", "Throughput as keys and servers grow", "../docs/benchmarks"),
  ].join("\n\n");
}

function describeKeyMemory(keys: readonly GrowthRow[]): string[] {
  const [, second, third] = keys;
  if (!second || !third) return [];
  const bytesPerKey = (what: "idleMb" | "loadedMb") =>
    whole(((third[what] - second[what]) * 1e6) / (third.size - second.size));
  return [
    `Beyond the first ${second.size.toLocaleString("en")}, a key takes ${bytesPerKey("idleMb")} bytes of memory after the start, and ` +
      `${bytesPerKey("loadedMb")} once all are in use.`,
  ];
}

function describeClients(rows: readonly ClientsRow[], charts: Map<string, string>): string {
  const points = rows.map(({ clients, calls }) => ({ x: clients, y: calls }));
  const names = { x: "clients", y: `calls in ${rows[0]?.seconds} s` };
  charts.set("clients.svg", drawLine("Calls to the game API as clients grow", points, names));
  return [
    "## Calls to the game API",
    `One server, readings fresh for ${FRESH_MS / 1000} s, every client asking as fast as it is answered:`,
    table(
      ["clients", "seconds", "requests answered", "calls to the game API"],
      rows.map(({ clients, seconds, requests, calls }) => [
        whole(clients),
        String(seconds),
        whole(requests),
        String(calls),
      ]),
    ),
    image("clients.svg", "Calls to the game API as clients grow"),
  ].join("\n\n");
}

function describeCommands({ rows, steady, diskPerSecond }: CommandResults, charts: Map<string, string>): string {
  const groups = [...new Set(rows.map(({ store }) => store))].map((store, index) => ({
    title: store,
    bars: rows
      .filter((row) => row.store === store)
      .map(({ callers, perSecond }) => ({
        label: callers === 1 ? "1 caller" : `${callers} callers`,
        value: perSecond,
        colour: index,
      })),
  }));
  charts.set("commands.svg", drawBars("Commands accepted per second", groups, whole));
  return [
    "## Accepting commands",
    "Accepted means on disk: SQLite commits with `synchronous=FULL`, PostgreSQL with `fsync=on`. This disk can be waited for " +
      `${whole(diskPerSecond)} times a second, one write at a time.`,
    table(
      ["store", "callers at a time", "accepted/s", "beside the disk"],
      rows.map(({ store, callers, perSecond }) => [
        store,
        String(callers),
        whole(perSecond),
        ratio(perSecond / diskPerSecond),
      ]),
    ),
    `99 of 100 were accepted within: ${steady
      .map(
        ({ store, offeredPerSecond, p99Ms }) =>
          `${p99Ms.toFixed(1)} ms on ${store}, ${offeredPerSecond} offered in a second`,
      )
      .join("; ")}.`,
    image("commands.svg", "Commands accepted per second", "../docs/benchmarks"),
  ].join("\n\n");
}

/** Breaks the lines of prose at 120 characters. */
function wrapProse(markdown: string): string {
  const wrap = (line: string) => (/^[|!#]/.test(line) ? line : line.replace(/(.{1,120})(?: +|$)/g, "$1\n").trimEnd());
  return markdown.split("\n").map(wrap).join("\n");
}

/** A Markdown table, padded so that it is readable in a terminal too. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, 3, ...rows.map((row) => (row[i] ?? "").length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

function image(file: string, text: string, folder = "benchmarks"): string {
  return `![${text}](${folder}/${file})`;
}

function ratio(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2) : "–";
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

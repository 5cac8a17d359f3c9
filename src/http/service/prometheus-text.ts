// Prometheus's text format, version 0.0.4: families of samples in, text out. It knows none of our metrics.
import type { Histogram } from "../../core/histogram.ts";

export const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string | number>>;
export type Sample = { readonly labels?: Labels; readonly value: number };
export type Series = { readonly labels?: Labels; readonly histogram: Histogram };

/** All samples of one name, with their type and help text. */
export type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly lines: readonly string[];
};

/** A single number is a family of one sample without labels. */
export function counter(name: string, help: string, samples: number | readonly Sample[]): Family {
  return { name, help, type: "counter", lines: writeSamples(name, samples) };
}

export function gauge(name: string, help: string, samples: number | readonly Sample[]): Family {
  return { name, help, type: "gauge", lines: writeSamples(name, samples) };
}

export function histogram(name: string, help: string, series: readonly Series[]): Family {
  return { name, help, type: "histogram", lines: series.flatMap((each) => writeSeries(name, each)) };
}

export function writeFamilies(families: readonly Family[]): string {
  const texts = families.map(({ name, help, type, lines }) => {
    return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
  });
  // The last line must end with a line feed too. Empty lines between families are for people.
  return `${texts.join("\n\n")}\n`;
}

function writeSamples(name: string, samples: number | readonly Sample[]): string[] {
  if (typeof samples === "number") return [writeLine(name, {}, samples)];
  return samples.map(({ labels = {}, value }) => writeLine(name, labels, value));
}

/** In this format buckets are cumulative: each also counts the samples of all lower ones. */
function writeSeries(name: string, { labels = {}, histogram: { bounds, counts, sum } }: Series): string[] {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return writeLine(`${name}_bucket`, { ...labels, le: bounds[index] ?? "+Inf" }, total);
  });
  return [...buckets, writeLine(`${name}_sum`, labels, sum), writeLine(`${name}_count`, labels, total)];
}

function writeLine(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabelValue(String(text))}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${writeNumber(value)}`;
}

function writeNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabelValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

// Parses Prometheus text, as far as the health view needs it.

export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

export function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labelText = "", valueText = ""] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const labels = Object.fromEntries(
      Array.from(labelText.matchAll(LABEL), ([, label = "", raw = ""]) => {
        return [label, raw.replace(/\\./g, (escaped) => ESCAPES[escaped] ?? escaped)];
      }),
    );
    const value = valueText === "+Inf" ? Number.POSITIVE_INFINITY : Number(valueText);
    return [{ name, labels, value }];
  });
}

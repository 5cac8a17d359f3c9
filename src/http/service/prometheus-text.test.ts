import { describe, expect, test } from "bun:test";
import { Histogram } from "../../core/histogram.ts";
import { counter, gauge, histogram, writeFamilies } from "./prometheus-text.ts";

describe("the text for Prometheus", () => {
  test("has help, type and samples of each family, and ends with a line feed", () => {
    const families = [
      counter("answers_total", "Answers.", [
        { labels: { route: "/a", status: 200 }, value: 3 },
        { labels: { route: "/b", status: 404 }, value: 1 },
      ]),
      gauge("sockets", "Open sockets.", 7.5),
    ];
    expect(writeFamilies(families)).toBe(
      [
        "# HELP answers_total Answers.",
        "# TYPE answers_total counter",
        'answers_total{route="/a",status="200"} 3',
        'answers_total{route="/b",status="404"} 1',
        "",
        "# HELP sockets Open sockets.",
        "# TYPE sockets gauge",
        "sockets 7.5",
        "",
      ].join("\n"),
    );
  });

  test("writes type and help of a family without samples", () => {
    expect(writeFamilies([counter("calls_total", "Calls.", [])])).toBe(
      "# HELP calls_total Calls.\n# TYPE calls_total counter\n",
    );
  });

  test("writes cumulative buckets of a histogram; a bound belongs to its bucket", () => {
    const seconds = new Histogram([0.25, 1]);
    for (const observed of [0.125, 0.25, 0.5, 2]) seconds.observe(observed);
    const text = writeFamilies([
      histogram("wait_seconds", "Waits.", [
        { labels: { route: "/a" }, histogram: seconds },
        { histogram: new Histogram([1]) },
      ]),
    ]);
    expect(text.split("\n").slice(2)).toEqual([
      'wait_seconds_bucket{route="/a",le="0.25"} 2',
      'wait_seconds_bucket{route="/a",le="1"} 3',
      'wait_seconds_bucket{route="/a",le="+Inf"} 4',
      'wait_seconds_sum{route="/a"} 2.875',
      'wait_seconds_count{route="/a"} 4',
      'wait_seconds_bucket{le="1"} 0',
      'wait_seconds_bucket{le="+Inf"} 0',
      "wait_seconds_sum 0",
      "wait_seconds_count 0",
      "",
    ]);
  });

  test("nothing in a label or a help text can end it, or begin a line of its own", () => {
    const text = writeFamilies([
      gauge("odd", 'back\\slash, "quotes"\nforged 1', [{ labels: { of: 'back\\slash "quotes"\nforged 1' }, value: 1 }]),
    ]);
    expect(text).toBe(
      '# HELP odd back\\\\slash, "quotes"\\nforged 1\n# TYPE odd gauge\n' +
        'odd{of="back\\\\slash \\"quotes\\"\\nforged 1"} 1\n',
    );
  });

  test("numbers are written as Prometheus reads them, also infinity and NaN", () => {
    const numbers = [0, -1.5, 1e21, 5e-7, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
    const lines = writeFamilies(numbers.map((value) => gauge("n", "A number.", value))).split("\n");
    const written = lines.filter((line) => line.startsWith("n ")).map((line) => line.slice(2));
    expect(written).toEqual(["0", "-1.5", "1e+21", "5e-7", "+Inf", "-Inf", "NaN"]);
  });
});

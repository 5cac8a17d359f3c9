// Counts answers since the start, by route, status and error code. The hot path only adds numbers.
import { Histogram } from "../core/histogram.ts";

const CODE_FACTOR = 100_000;

export class RouteMeter {
  readonly seconds = new Histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5, 10]);
  readonly #answers = new Map<number, number>();

  /** `code` is 0 when the answer is not an error. */
  count(status: number, code: number, seconds: number): void {
    const kind = status * CODE_FACTOR + code;
    this.#answers.set(kind, (this.#answers.get(kind) ?? 0) + 1);
    this.seconds.observe(seconds);
  }

  *answers(): Generator<{ status: number; code: number; count: number }> {
    for (const [kind, count] of this.#answers) {
      yield { status: Math.floor(kind / CODE_FACTOR), code: kind % CODE_FACTOR, count };
    }
  }
}

/** One meter per route. The routes are a fixed list, so requests cannot make this grow. */
export class EdgeMeter {
  readonly routes = new Map<string, RouteMeter>();

  of(route: string): RouteMeter {
    let meter = this.routes.get(route);
    if (!meter) {
      meter = new RouteMeter();
      this.routes.set(route, meter);
    }
    return meter;
  }
}

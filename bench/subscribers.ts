// Many subscribers of one server's events over bare sockets. They count the events of one type and do nothing else.

/** Bursts of the simulator make events of this type. */
const COUNTED = Buffer.from("\nevent: command.used\n");
const HELLO = "event: hello";
const OPENING_MAX = 50;
const DEADLINE_MS = 60_000;

export type Delivery = {
  /** When the first and the last subscriber had got something, by performance.now(). */
  readonly firstAt: number;
  readonly lastAt: number;
  /** From the time of the first event's reading until all subscribers had all events. */
  readonly sinceSeenMs: number;
};

export type SubscriberOptions = {
  readonly url: string;
  /** The streams are shared out evenly. */
  readonly tokens: readonly string[];
  readonly count: number;
};

type Subscriber = { hasHello: boolean; events: number; rest: Buffer; onHello: () => void };
type Expectation = {
  readonly events: number;
  waiting: number;
  firstAt: number;
  seenAt: number;
  readonly resolve: (delivery: Delivery) => void;
  readonly reject: (error: Error) => void;
};

export class Subscribers {
  readonly #sockets: Bun.Socket<Subscriber>[] = [];
  #expected: Expectation | undefined;
  #isClosing = false;
  #lost = 0;
  #total = 0;

  static async open({ url, tokens, count }: SubscriberOptions): Promise<Subscribers> {
    const subscribers = new Subscribers();
    for (let opened = 0; opened < count; opened += OPENING_MAX) {
      const batch = Array.from({ length: Math.min(OPENING_MAX, count - opened) }, (_, i) =>
        subscribers.#open(new URL(url), tokens[(opened + i) % tokens.length] ?? ""),
      );
      await Promise.all(batch);
    }
    return subscribers;
  }

  /** Events that all subscribers together have got. */
  get total(): number {
    return this.#total;
  }

  /** Throws when the server has closed a stream: its figures would mean nothing. */
  checkOpen(): void {
    if (this.#lost > 0) throw new Error(`${this.#lost} streams were closed`);
  }

  /** Resolves when every subscriber has got so many events more. */
  expect(events: number): Promise<Delivery> {
    this.checkOpen();
    for (const { data } of this.#sockets) data.events = 0;
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`${events} events did not reach all within ${DEADLINE_MS} ms`));
      const timer = setTimeout(late, DEADLINE_MS);
      this.#expected = {
        events,
        waiting: this.#sockets.length,
        firstAt: 0,
        seenAt: 0,
        resolve: (delivery) => {
          clearTimeout(timer);
          resolve(delivery);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
    });
  }

  close(): void {
    this.#isClosing = true;
    for (const socket of this.#sockets) socket.terminate();
  }

  async #open({ hostname, port, pathname, search }: URL, token: string): Promise<void> {
    const hello = Promise.withResolvers<void>();
    const socket = await Bun.connect<Subscriber>({
      hostname,
      port: Number(port),
      data: { hasHello: false, events: 0, rest: Buffer.alloc(0), onHello: hello.resolve },
      socket: {
        data: ({ data: subscriber }, bytes) => this.#take(subscriber, bytes),
        close: ({ data: subscriber }) => {
          if (this.#isClosing) return;
          this.#lost++;
          this.#expected?.reject(new Error("a stream was closed"));
          if (!subscriber.hasHello) hello.reject(new Error("a stream was not opened"));
        },
      },
    });
    this.#sockets.push(socket);
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await hello.promise;
  }

  #take(subscriber: Subscriber, bytes: Buffer): void {
    if (!subscriber.hasHello) {
      const text = subscriber.rest.toString() + bytes.toString();
      subscriber.rest = Buffer.from(text);
      if (!text.includes(HELLO)) return;
      subscriber.hasHello = true;
      subscriber.rest = Buffer.alloc(0);
      subscriber.onHello();
      return;
    }
    const found = countIn(subscriber, bytes);
    this.#total += found;
    const expected = this.#expected;
    if (found === 0 || !expected) return;
    if (expected.firstAt === 0) {
      expected.firstAt = performance.now();
      expected.seenAt = Number(/"seen_at":(\d+)/.exec(bytes.toString("latin1", 0, 4096))?.[1]);
    }
    const before = subscriber.events;
    subscriber.events += found;
    if (before >= expected.events || subscriber.events < expected.events || --expected.waiting > 0) return;
    this.#expected = undefined;
    const { firstAt, seenAt } = expected;
    expected.resolve({ firstAt, lastAt: performance.now(), sinceSeenMs: Date.now() - seenAt });
  }
}

/** The events whose line ends in these bytes; the line may have begun in the bytes before. */
function countIn(subscriber: Subscriber, bytes: Buffer): number {
  const edge = COUNTED.length - 1;
  let found = 0;
  // Neither side alone holds a whole line, so nothing is counted twice.
  const seam = Buffer.concat([subscriber.rest, bytes.subarray(0, edge)]);
  if (subscriber.rest.length > 0 && seam.indexOf(COUNTED) >= 0) found++;
  for (let at = bytes.indexOf(COUNTED); at >= 0; at = bytes.indexOf(COUNTED, at + COUNTED.length)) found++;
  subscriber.rest = Buffer.from(bytes.length >= edge ? bytes.subarray(-edge) : seam.subarray(-edge));
  return found;
}

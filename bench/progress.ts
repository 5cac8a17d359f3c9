// Shows what is being measured: one line that is rewritten on a terminal, one line for each step in a log.

const BAR_WIDTH = 20;

export class Progress {
  readonly #out: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #name = "";
  #steps = 0;
  #done = 0;

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out;
  }

  /** Begins a part with this many steps. */
  part(name: string, steps: number): void {
    [this.#name, this.#steps, this.#done] = [name, steps, 0];
    this.#print("…");
  }

  step(what: string): void {
    this.#done = Math.min(this.#done + 1, this.#steps);
    const filled = Math.round((this.#done / Math.max(1, this.#steps)) * BAR_WIDTH);
    const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
    this.#print(`${bar} ${this.#done}/${this.#steps}  ${what}`);
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write("\r\x1b[2K");
  }

  #print(text: string): void {
    const out = this.#out;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const line = `${clock}  ${this.#name}  ${text}`;
    out.write(out.isTTY ? `\r\x1b[2K${line.slice(0, out.columns - 1)}` : `${line}\n`);
  }
}

// Says what is being measured: one line that is rewritten on a terminal, one line a step in a log.

export type Progress = {
  /** Begins a part with so many steps. */
  part(name: string, steps: number): void;
  step(what: string): void;
  end(): void;
};

export function createProgress(out: NodeJS.WriteStream = process.stderr): Progress {
  const startedAt = performance.now();
  let name = "";
  let steps = 0;
  let done = 0;

  function say(text: string): void {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const line = `${clock}  ${name}  ${text}`;
    out.write(out.isTTY ? `\r\x1b[2K${line.slice(0, out.columns - 1)}` : `${line}\n`);
  }

  return {
    part(partName, partSteps) {
      [name, steps, done] = [partName, partSteps, 0];
      say("…");
    },
    step(what) {
      done = Math.min(done + 1, steps);
      const filled = Math.round((done / Math.max(1, steps)) * 20);
      say(`${"█".repeat(filled)}${"░".repeat(20 - filled)} ${done}/${steps}  ${what}`);
    },
    end() {
      if (out.isTTY) out.write("\r\x1b[2K");
    },
  };
}

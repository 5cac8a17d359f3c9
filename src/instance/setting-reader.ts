// Reads settings one by one and collects every fault, so that all of them can be reported together.

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = "GATEHOUSE_";
/** Not read here: the address that the command line calls, and the API key of the examples. */
const CALLER_SETTINGS: readonly string[] = ["GATEHOUSE_URL", "GATEHOUSE_KEY"];

export class SettingReader {
  readonly faults: string[] = [];
  readonly #known = new Set(CALLER_SETTINGS);

  constructor(private readonly environment: Environment) {}

  addFault(name: string, problem: string): void {
    this.faults.push(`${name} ${problem}`);
  }

  /** The trimmed text; undefined when it is absent or empty. */
  find(name: string): string | undefined {
    this.#known.add(name);
    const value = this.environment[name]?.trim();
    return value === "" ? undefined : value;
  }

  /** The text or the fallback. What `findProblem` says about it is a fault, which must not hold a secret. */
  findChecked<T extends string | undefined = undefined>(
    name: string,
    findProblem: (text: string) => string | undefined,
    fallback?: T,
  ): string | T {
    const text = this.find(name) ?? fallback;
    const problem = text === undefined ? undefined : findProblem(text);
    if (problem !== undefined) this.addFault(name, problem);
    return text as string | T;
  }

  readInteger(name: string, fallback: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
    const text = this.find(name);
    if (text === undefined) return fallback;
    const value = /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : Number.NaN;
    if (value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    this.addFault(name, `must be a whole number ${range}, not "${text}"`);
    return fallback;
  }

  /** Comma-separated whole numbers, at least one of them and at most `countMax`. */
  readIntegers(
    name: string,
    fallback: readonly number[],
    { min, max, countMax }: { readonly min: number; readonly max: number; readonly countMax: number },
  ): readonly number[] {
    const text = this.find(name);
    if (text === undefined) return fallback;
    const entries = text.split(",").map((entry) => entry.trim());
    const values = entries.map((entry) => (/^\d+$/.test(entry) ? Number(entry) : Number.NaN));
    if (values.length <= countMax && values.every((value) => value >= min && value <= max)) return values;
    const rule = `must be 1 to ${countMax} whole numbers from ${min} to ${max}, separated by commas`;
    this.addFault(name, `${rule}, not "${text}"`);
    return fallback;
  }

  readChoice<const T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.find(name);
    if (text === undefined) return fallback;
    const chosen = choices.find((option) => option === text);
    if (chosen === undefined) this.addFault(name, `must be one of ${choices.join(", ")}, not "${text}"`);
    return chosen ?? fallback;
  }

  /** Comma-separated. An entry of which `findProblem` says what it is, such as "not an address", is a fault. */
  readList(name: string, findProblem: (entry: string) => string | undefined): string[] {
    const entries = (this.find(name) ?? "").split(",").map((entry) => entry.trim());
    const given = entries.filter((entry) => entry !== "");
    for (const entry of given) {
      const problem = findProblem(entry);
      if (problem !== undefined) this.addFault(name, `has "${entry}", which is ${problem}`);
    }
    return given;
  }

  /** Settings with our prefix that were never read: most likely misspelt. */
  listUnknown(): string[] {
    return Object.keys(this.environment).filter((name) => {
      return name.startsWith(PREFIX) && !this.#known.has(name);
    });
  }
}

// The settings: every fault, and every unknown name with our prefix. The other checks use the settings without faults.
import { StartRefused } from "../core/errors.ts";
import { type Config, parseConfig, readEnvironment } from "../instance/config.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok, warn } = reportAs("settings");
const TLS_PAIR = ["GATEHOUSE_TLS_CERT", "GATEHOUSE_TLS_KEY"];

export type Settings = {
  /** Without the faulty settings; undefined when the settings could not be read at all. */
  readonly config: Config | undefined;
  readonly faults: readonly string[];
  readonly faultyNames: ReadonlySet<string>;
};

export function readSettings(folder: string, overrides: Readonly<Record<string, string>>): Settings {
  let environment: ReturnType<typeof readEnvironment>;
  try {
    environment = readEnvironment(folder, overrides);
  } catch (error) {
    return { config: undefined, faults: listFaults(error), faultyNames: new Set() };
  }
  try {
    return { config: parseConfig(environment), faults: [], faultyNames: new Set() };
  } catch (error) {
    const faults = listFaults(error);
    const faultyNames = new Set(faults.flatMap((fault) => fault.match(/\bGATEHOUSE_[A-Z_]+/g) ?? []));
    // Certificate and key without each other would be another fault.
    for (const name of TLS_PAIR) if (TLS_PAIR.some((each) => faultyNames.has(each))) faultyNames.add(name);
    const rest = Object.entries(environment).filter(([name]) => !faultyNames.has(name));
    return { config: parseConfig(Object.fromEntries(rest)), faults, faultyNames };
  }
}

/** The message of the error has all faults, one on each line. */
function listFaults(error: unknown): string[] {
  if (!(error instanceof StartRefused)) throw error;
  const [first = "", ...rest] = error.message.split("\n  - ");
  return rest.length > 0 ? rest : [first];
}

export function judgeSettings(settings: Pick<Settings, "faults"> & { unknown: readonly string[] }): Finding[] {
  const faults = settings.faults.flatMap((fault) =>
    fail(`${fault}.`, "Correct it in the environment or in .env; .env.example explains every setting."),
  );
  const unknown = settings.unknown.flatMap((name) =>
    warn(`${name} is not a setting of Gatehouse and has no effect.`, "Check its spelling, or remove it."),
  );
  const findings = [...faults, ...unknown];
  return findings.length > 0 ? findings : ok("Every setting is usable.");
}

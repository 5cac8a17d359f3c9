// The options that change a resource: the field of the request that each of them sets, said once.
import { InvalidArgumentError, Option } from "commander";
import { describeTypesFault, parseTypes } from "../../core/events/event-types.ts";
import { ALL_SECTIONS } from "../../core/sections.ts";
import { failUsage } from "../exit-codes.ts";

/** By the option's name in camel case. Without `parse` the field gets the option's value as it is. */
export type Settings<Body> = {
  readonly [option: string]: readonly [field: keyof Body & string, parse?: (text: string) => unknown];
};

/** Only the fields whose options were given; the admin API checks their values. */
export function toFields<Body>(settings: Settings<Body>, options: object): { [Name in keyof Body]?: unknown } {
  const fields: { [Name in keyof Body]?: unknown } = {};
  for (const [option, value] of Object.entries(options)) {
    const [field, parse] = settings[option] ?? [];
    if (field !== undefined && value !== undefined) fields[field] = parse ? parse(value) : value;
  }
  return fields;
}

/** Refuses a change without any option for it. `command` is what stands after `gatehouse`. */
export function checkGiven(settings: Settings<never>, options: object, command: string): void {
  const isGiven = Object.entries(options).some(([option, value]) => option in settings && value !== undefined);
  if (!isGiven) failUsage(`nothing to change: gatehouse ${command} --help has the options`);
}

export function choice(flags: string, help: string, choices: readonly string[] = ["on", "off"]): Option {
  return new Option(flags, help).choices(choices);
}

export function isOn(text: string): boolean {
  return text === "on";
}

/** For an option with types of events. Gatehouse repeats no wrong name, because it may be a secret; here it was just typed. */
export function checkTypes(text: string): string {
  const names = text.split(",").map((name) => name.trim());
  const parsed = parseTypes(names.join(), ALL_SECTIONS);
  if (!("fault" in parsed)) return names.join();
  const { reason, name } = parsed.fault;
  const fault = reason === "unknown" ? `There is no type ${name}.` : `It ${describeTypesFault(parsed.fault)}.`;
  throw new InvalidArgumentError(fault);
}

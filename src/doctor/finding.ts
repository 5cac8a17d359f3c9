// What a check has found: a result, a sentence, and for what is not well a sentence that says how to mend it.

export type Finding = {
  readonly name: string;
  readonly result: "ok" | "warning" | "failure" | "skipped";
  readonly finding: string;
  readonly remedy: string | null;
};

export function ok(name: string, finding: string): Finding {
  return { name, result: "ok", finding, remedy: null };
}

/** It works, but something should be done. */
export function warn(name: string, finding: string, remedy: string): Finding {
  return { name, result: "warning", finding, remedy };
}

/** It does not work, will not, or is not safe. */
export function fail(name: string, finding: string, remedy: string): Finding {
  return { name, result: "failure", finding, remedy };
}

/** Nothing was checked; the sentence says why. */
export function skip(name: string, finding: string): Finding {
  return { name, result: "skipped", finding, remedy: null };
}

export function hasFailure(findings: readonly Finding[]): boolean {
  return findings.some(({ result }) => result === "failure");
}

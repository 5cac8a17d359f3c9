// The result of a check: a sentence, and for a problem a second one that says how to fix it.

export type Finding = {
  readonly name: string;
  readonly result: "ok" | "warning" | "failure" | "skipped";
  readonly finding: string;
  readonly remedy: string | null;
};

export function ok(name: string, finding: string): Finding {
  return { name, result: "ok", finding, remedy: null };
}

/** It works, but the operator should act. */
export function warn(name: string, finding: string, remedy: string): Finding {
  return { name, result: "warning", finding, remedy };
}

/** It does not work, will not work, or is not safe. */
export function fail(name: string, finding: string, remedy: string): Finding {
  return { name, result: "failure", finding, remedy };
}

/** Not checked; the sentence says why. */
export function skip(name: string, finding: string): Finding {
  return { name, result: "skipped", finding, remedy: null };
}

export function hasFailure(findings: readonly Finding[]): boolean {
  return findings.some(({ result }) => result === "failure");
}

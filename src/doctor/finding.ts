// The result of a check: a sentence, and for a problem a second one that says how to fix it.

export type Finding = {
  readonly name: string;
  readonly result: "ok" | "warning" | "failure" | "skipped";
  readonly finding: string;
  readonly remedy: string | null;
};

/** What the check of this name reports. Each is a list of one finding, as checks return lists. */
export function reportAs(name: string) {
  const report = (result: Finding["result"], finding: string, remedy: string | null): Finding[] => [
    { name, result, finding, remedy },
  ];
  return {
    ok: (finding: string) => report("ok", finding, null),
    /** It works, but the operator should act. */
    warn: (finding: string, remedy: string) => report("warning", finding, remedy),
    /** It does not work, will not work, or is not safe. */
    fail: (finding: string, remedy: string) => report("failure", finding, remedy),
    /** Not checked; the sentence says why. */
    skip: (finding: string) => report("skipped", finding, null),
  };
}

export function hasFailure(findings: readonly Finding[]): boolean {
  return findings.some(({ result }) => result === "failure");
}

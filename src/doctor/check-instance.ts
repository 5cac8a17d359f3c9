// The instance that runs on the data folder, if there is one: whether it is ready, and its notices.
import type { InstanceAnswer } from "./call-instance.ts";
import { type Finding, fail, ok, skip, warn } from "./finding.ts";

const NAME = "instance";

/** `answer` is undefined when no instance holds the data folder. */
export function judgeInstance(answer: InstanceAnswer | undefined, url: string): Finding[] {
  if (!answer) return [skip(NAME, "No Gatehouse is running on this data folder.")];
  if ("error" in answer) {
    return [
      warn(
        NAME,
        `A Gatehouse is running on this data folder, but not at ${url} (${answer.error}).`,
        "Run doctor with the settings that Gatehouse was started with.",
      ),
    ];
  }
  if (answer.status !== 200) {
    const details = Object.entries(answer.details).map(([part, state]) => `${part} ${state}`);
    return [
      fail(
        NAME,
        `The instance at ${url} is not ready (HTTP ${answer.status}): ${details.join(", ") || "no details"}.`,
        "Check its log, and the other findings here.",
      ),
    ];
  }
  if (answer.notices.length === 0) return [ok(NAME, `The instance at ${url} is ready.`)];
  return answer.notices.map((notice) =>
    warn(
      NAME,
      `The instance at ${url} says: ${notice}`,
      "The log says when it began. gatehouse servers list shows the servers, gatehouse upstream show a pause.",
    ),
  );
}

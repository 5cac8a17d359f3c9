// The commands that were sent from the open drawer. They go through the same store as those of the console, which shows them too.
import { useState } from "react";
import { endsSession, useCallerSession, useSession } from "../../state/session.ts";
import { getSubmissionStore, type Submission } from "../commands/submissions.ts";

export type SentCommand = {
  readonly key: string;
  readonly text: string;
  /** Undefined until there is an answer, or the answer is lost. */
  readonly submission: Submission | undefined;
};

export function useSentCommands() {
  const { api } = useCallerSession();
  const { signOut } = useSession();
  const store = getSubmissionStore(api);
  const [sent, setSent] = useState<readonly SentCommand[]>([]);

  async function follow(command: SentCommand, answer: Promise<Submission>): Promise<void> {
    const replace = (submission: Submission | undefined) =>
      setSent((all) => all.map((other) => (other.key === command.key ? { ...command, submission } : other)));
    replace(undefined);
    const submission = await answer;
    replace(submission);
    if (submission.error && endsSession(submission.error)) signOut(submission.error);
  }

  function send(text: string): void {
    const command = { key: crypto.getRandomValues(new Uint32Array(2)).join(), text, submission: undefined };
    setSent((all) => [command, ...all]);
    void follow(command, store.submit(text));
  }
  function retry(command: SentCommand): void {
    if (command.submission) void follow(command, store.retry(command.submission));
  }
  /** The console forgets it too. */
  function dismiss(command: SentCommand): void {
    if (command.submission) store.remove(command.submission);
    setSent((all) => all.filter(({ key }) => key !== command.key));
  }
  return { sent, send, retry, dismiss };
}

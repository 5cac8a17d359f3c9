// Asks Redis about many servers, some at a time.

const SERVERS_AT_ONCE = 100;

/** The answers in the order of the servers. */
export async function askInTurns<T>(
  serverIds: readonly string[],
  ask: (serverId: string) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  for (let i = 0; i < serverIds.length; i += SERVERS_AT_ONCE) {
    answers.push(...(await Promise.all(serverIds.slice(i, i + SERVERS_AT_ONCE).map(ask))));
  }
  return answers;
}

// Sends requests to Redis for many servers, a batch at a time.

const BATCH_MAX = 100;

/** The results in the order of the servers. */
export async function mapInBatches<T>(
  serverIds: readonly string[],
  request: (serverId: string) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let done = 0; done < serverIds.length; done += BATCH_MAX) {
    results.push(...(await Promise.all(serverIds.slice(done, done + BATCH_MAX).map(request))));
  }
  return results;
}

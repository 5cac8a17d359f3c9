// Imports files that are loaded after the page has started. Some browsers remember a failed import() until the page is
// closed and never load that URL again, so after a failure the file is imported under another URL.

const failures = new Map<string, number>();

/** The build replaces every `import("./file.ts")` of the dashboard by a call of this function. */
export async function importLazy(url: string): Promise<unknown> {
  const failed = failures.get(url) ?? 0;
  try {
    // The URL changes only after a failure, so no file is evaluated twice.
    return await import(failed === 0 ? url : `${url}?retry=${failed}`);
  } catch (error) {
    failures.set(url, failed + 1);
    throw error;
  }
}

Object.assign(globalThis, { importLazy });

/** Starts to measure pure work, whatever else the machine does meanwhile: milliseconds of the processor on this thread. */
export function timeProcessor(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
}

/**
 * Loaded into a server with `--import`: how long its main thread works before the event loop gets on, in ms of CPU time, which other
 * processes on the machine do not disturb. On SIGUSR2 it writes `stalls` and, of the time since the last one, these numbers in order and how
 * many times longer the machine made them last, to standard error.
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  let stalls: number[] = [];
  /** Of turns that worked for some time, ms: shorter ones may have waited for work. */
  const long = 3;
  let [cpu, wall] = [0, 0];
  let last = process.threadCpuUsage();
  let lastAt = performance.now();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    const at = performance.now();
    const worked = (user + system) / 1000;
    stalls.push(worked);
    if (worked >= long) {
      cpu += worked;
      wall += at - lastAt;
    }
    last = process.threadCpuUsage();
    lastAt = at;
  }, 1).unref();
  process.on('SIGUSR2', () => {
    process.stderr.write(
      `stalls ${JSON.stringify({ turns: stalls.sort((a, b) => a - b), stretch: cpu === 0 ? 1 : Math.max(1, wall / cpu) })}\n`,
    );
    stalls = [];
    [cpu, wall] = [0, 0];
  });
}

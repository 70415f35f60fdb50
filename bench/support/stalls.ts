/**
 * Loaded into a server with `--import`: how long its main thread works before the event loop gets on, in ms of CPU time, which other
 * processes on the machine do not disturb. On SIGUSR2 it writes `stalls` and the numbers of the time since the last one, in order, to
 * standard error.
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  let stalls: number[] = [];
  let last = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    stalls.push((user + system) / 1000);
  }, 1).unref();
  process.on('SIGUSR2', () => {
    process.stderr.write(`stalls ${JSON.stringify(stalls.sort((a, b) => a - b))}\n`);
    stalls = [];
  });
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface WrkResult {
  readonly requestsPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly p99: number;
}

const UNITS: Record<string, number> = { us: 0.001, ms: 1, s: 1000, KB: 1 / 1024, MB: 1, GB: 1024, B: 1 / 1024 ** 2 };
const amount = (text: string, pattern: RegExp): number => {
  const [, number, unit] = pattern.exec(text) ?? [];
  return Number(number) * (UNITS[unit] ?? 1);
};

/** Runs wrk on the second core against an address; times in ms. Throws when an answer is an error or missing. */
export async function wrk(url: string, headers: Record<string, string>, seconds: number, connections: number): Promise<WrkResult> {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...given, url];
  const { stdout } = await promisify(execFile)('taskset', args);
  const bad = /Non-2xx or 3xx responses: (\d+)/.exec(stdout);
  if (bad !== null) throw new Error(`${bad[1]} answers were errors: ${url}`);
  const lost = /Socket errors: .*/.exec(stdout);
  if (lost !== null) throw new Error(`${lost[0]}: ${url}`);
  return {
    requestsPerSecond: amount(stdout, /Requests\/sec:\s+([\d.]+)/),
    megabytesPerSecond: amount(stdout, /Transfer\/sec:\s+([\d.]+)(KB|MB|GB|B)/),
    p99: amount(stdout, /99%\s+([\d.]+)(us|ms|s)/),
  };
}

/**
 * How long a list takes to become equal to a content of which little differs: `node bench/replace.ts [--lines 120000] [--part 0.03] [--rounds 5]
 * [--engine postgres]`. From the first byte of the content, which comes through `/v1/manage/replacements` in parts of 10,000 lines, to the last byte of
 * the feed that has it, and the processor time that weir takes for it. Of the lines that differ half are new and half have gone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/postgres.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { scattered } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { cpuSeconds, memoryMb } from './support/process.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '120000' },
    part: { type: 'string', default: '0.03' },
    rounds: { type: 'string', default: '5' },
    engine: { type: 'string', default: 'embedded' },
  },
});
const [LINES, PART, ROUNDS] = [values.lines, values.part, values.rounds].map(Number);
/** Lines of a part. */
const SLICE = 10_000;
/** Lines that come and go in each round; the first round makes all of them. */
const MOVED = Math.round((LINES * PART) / 2);

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const postgres = values.engine === 'postgres' ? await startPostgres() : undefined;
const limits = { RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_MANAGE: '0', RATE_LIMIT_FEEDS: '0', FEED_REBUILD_SECONDS: '0', LOG_LEVEL: 'error' };
const weir = await startWeir({
  ...{ DATA_DIR: dir, BOOTSTRAP_API_KEY: KEY, ...limits },
  ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
});
const headers = { authorization: `Bearer ${KEY}` };

interface Reply {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly plan: { readonly added: number; readonly removed: number; readonly unchanged: number } | null;
}
async function ask(path: string, body?: string): Promise<Reply> {
  const asked = body === undefined ? {} : { method: 'POST', body };
  const response = await fetch(`${weir.url}/v1/manage/replacements${path}`, { headers, ...asked });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  return (await response.json()) as Reply;
}
async function feed(): Promise<string> {
  const response = await fetch(`${weir.url}/v1/threat/feeds`, { headers });
  if (response.status !== 200) throw new Error(`the feed was answered with ${response.status}`);
  return response.text();
}

const address = (n: number) => [24, 16, 8, 0].map((shift) => (scattered(n) >>> shift) & 255).join('.');
const lineOf = (n: number, i: number) =>
  `${JSON.stringify({ place: `line ${i + 1}`, value: address(n), action: 'block', expires_in: 604_800 })}\n`;

/** Makes the list equal to the lines from the n-th on; ms and seconds of the processor until each step was done. */
async function replace(from: number): Promise<{ readonly ms: number[]; readonly cpu: number[]; readonly told: Reply }> {
  const parts = Array.from({ length: Math.ceil(LINES / SLICE) }, (_, part) =>
    Array.from({ length: Math.min(SLICE, LINES - part * SLICE) }, (_, i) => lineOf(from + part * SLICE + i, part * SLICE + i)).join(''),
  );
  const [begun, cpu] = [performance.now(), cpuSeconds(weir.pid)];
  const at: number[] = [];
  const cpuAt: number[] = [];
  const step = () => {
    at.push(performance.now() - begun);
    cpuAt.push(cpuSeconds(weir.pid) - cpu);
  };
  const { id } = await ask('', '{}');
  for (const [n, part] of parts.entries()) await ask(`/${id}/parts?n=${n}`, part);
  step();
  let told = await ask(`/${id}/start`, JSON.stringify({ parts: parts.length, lines: LINES, confirmed: true }));
  for (; !['done', 'failed'].includes(told.state); told = await ask(`/${id}`)) await sleep(20);
  if (told.state === 'failed') throw new Error(told.reason ?? 'it failed');
  step();
  const [last, gone] = [`${address(from + LINES - 1)}/32`, from === 0 ? undefined : `${address(from - 1)}/32`];
  for (;;) {
    const lines = new Set((await feed()).split('\n'));
    if (lines.has(last) && (gone === undefined || !lines.has(gone))) break;
    await sleep(20);
  }
  step();
  return { ms: at, cpu: cpuAt, told };
}

try {
  const rows: string[][] = [['', 'content is there', 'changes are sent', 'in the feed', 'CPU s of each', 'added', 'removed', 'peak MiB']];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const { ms, cpu, told } = await replace(round * MOVED);
    const plan = told.plan!;
    rows.push([
      round === 0 ? 'all new' : `${PART * 100}% differ`,
      ...ms.map((each) => `${Math.round(each)} ms`),
      cpu.map((each, i) => (each - (cpu[i - 1] ?? 0)).toFixed(2)).join(', '),
      ...[plan.added, plan.removed, Math.round(memoryMb(weir.pid, 'VmHWM'))].map(String),
    ]);
  }
  printTable(rows);
} finally {
  await weir.kill('SIGKILL');
  await postgres?.stop();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

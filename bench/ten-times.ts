/**
 * Ten times as much: `node bench/ten-times.ts [--rules 10000000] [--workspaces 2000]`. A PostgreSQL of its own with so many rules in so many
 * workspaces, and another database on it with a tenth of both, one weir on each: landing, first polls and 304s, memory, start, pages of rules,
 * look-ups, an export, housekeeping. The rules of the population are made by SQL, as landing would have written them; what is measured is
 * real. What one workspace asks for should cost the same in both; what is of all may cost ten times as much.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { startOwnPostgres } from '../test/support/postgres.ts';
import { type Cell, printTable } from './support/load.ts';
import { fillTenTimes, type Population } from './ten-times/fill.ts';
import { type Measured, measure } from './ten-times/measure.ts';

const { values } = parseArgs({
  options: { rules: { type: 'string', default: '10000000' }, workspaces: { type: 'string', default: '2000' } },
});
const [RULES, WORKSPACES] = [Number(values.rules), Number(values.workspaces)];
const each = Math.round(RULES / WORKSPACES);
/** Beyond this times its proportion a figure is named. */
const WORSE = 1.5;

const folder = mkdtempSync(join(tmpdir(), 'weir-ten-times-'));
const memory = { shared_buffers: '1GB', maintenance_work_mem: '512MB', max_wal_size: '8GB', fsync: 'off' };
const postgres = await startOwnPostgres(memory);
try {
  const sizes = [];
  for (const workspaces of [WORKSPACES / 10, WORKSPACES]) sizes.push(await sizeOf({ workspaces, rules: each }));
  const [tenth, whole] = sizes;
  const rows = whole.map(({ name, of, value }, n): Cell[] => {
    const less = tenth[n].value;
    const factor = value / less / (of === 'all' ? 10 : 1);
    // A rate is worse where it is smaller.
    const isWorse = name.includes('a second') && name.startsWith('landing,') ? factor < 1 / WORSE : factor > WORSE;
    return [name, less, value, value / less, of === 'all' ? 10 : 1, isWorse ? 'worse' : ''];
  });
  const head = (factor: number) => `${(RULES * factor) / 1e6} million in ${WORKSPACES * factor}`;
  printTable([['', head(0.1), head(1), 'ratio', 'proportion', ''], ...rows]);
  console.log(`load ${loadavg()[0].toFixed(1)}`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function sizeOf(population: Population): Promise<Measured[]> {
  const url = await postgres.createDatabase();
  await (await openPostgresStore(url)).close();
  const begun = performance.now();
  await fillTenTimes(url, population);
  const took = ((performance.now() - begun) / 1000).toFixed(0);
  console.error(
    `${population.workspaces} workspaces of ${population.rules} rules are there after ${took} s, load ${loadavg()[0].toFixed(1)}`,
  );
  return measure(join(folder, String(population.workspaces)), url, population);
}

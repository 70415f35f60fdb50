/** The engine that a benchmark runs on: `--engine embedded` (the default) or `--engine postgres`. */
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/support/postgres.ts';

export interface BenchEngine {
  readonly name: string;
  /** Settings that choose it, with a store of its own that is empty. */
  settings(): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export const ENGINE_OPTION = { engine: { type: 'string', default: 'embedded' } } as const;

/** The engine that the command line names; options of the benchmark itself are its own affair. */
export async function openEngine(): Promise<BenchEngine> {
  const { engine } = parseArgs({ options: ENGINE_OPTION, strict: false }).values;
  if (engine === 'embedded') return { name: 'embedded engine', settings: async () => ({}), stop: async () => {} };
  if (engine !== 'postgres') throw new Error('--engine must be embedded or postgres');
  const postgres = await startPostgres();
  return {
    name: 'PostgreSQL',
    settings: async () => ({ DATABASE_URL: await postgres.createDatabase() }),
    stop: () => postgres.stop(),
  };
}

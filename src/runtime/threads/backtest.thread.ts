/** Evaluates parts of recordings. */
import { parentPort, workerData } from 'node:worker_threads';
import { tallyOf } from '../../backtest/tally.ts';
import { readSchemes } from '../schemes.ts';
import type { BacktestThreadData, BacktestThreadMethods } from './backtest.ts';
import { geoFields } from './backtest-geo.ts';
import { serveCalls } from './rpc.ts';

const { rules, kind, view, schemesFile, geo } = workerData as BacktestThreadData;
const tally = tallyOf(rules, readSchemes(schemesFile)[kind], { view, geoOf: geo === undefined ? undefined : geoFields(geo) });

serveCalls(parentPort as never, {
  async take(bytes: Uint8Array, at: number) {
    tally.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\n'), at);
  },
  count: async () => tally.count,
} satisfies BacktestThreadMethods);

/** A thread that judges pieces of recordings. */
import { parentPort, workerData } from 'node:worker_threads';
import type { GeoFields } from '../../backtest/rule.ts';
import { tallyOf } from '../../backtest/tally.ts';
import { countryText } from '../../geo/kind.ts';
import { keyLookup } from '../../geo/lookup.ts';
import { readSchemes } from '../schemes.ts';
import type { BacktestThreadData, BacktestThreadMethods, GeoTables } from './backtest.ts';
import { serveCalls } from './rpc.ts';

const { rules, kind, view, schemesFile, geo } = workerData as BacktestThreadData;
const tally = tallyOf(rules, readSchemes(schemesFile)[kind], { view, geoOf: geo === undefined ? undefined : geoFields(geo) });

function geoFields({ country, asn }: GeoTables): (address: string) => GeoFields {
  const [countryOf, asnOf] = [keyLookup(country), keyLookup(asn)];
  return (address) => {
    const [key, number] = [countryOf(address), asnOf(address)];
    return {
      ...(key === undefined ? {} : { 'ip.src.country': countryText(key) }),
      ...(number === undefined ? {} : { 'ip.src.asn': number }),
    };
  };
}

serveCalls(parentPort as never, {
  async take(bytes: Uint8Array, at: number) {
    tally.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\n'), at);
  },
  async count() {
    return tally.count;
  },
} satisfies BacktestThreadMethods);

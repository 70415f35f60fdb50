/** Evaluates parts of recordings. */
import type { TestedRule } from '../../../backtest/rule.ts';
import { tallyOf } from '../../../backtest/tally.ts';
import type { View } from '../../../recording/view.ts';
import type { ExpressionKind } from '../../../rule.ts';
import { readSchemes } from '../../schemes.ts';
import { type GeoTables, geoFields } from './backtest-geo.ts';

export interface BacktestData {
  readonly rules: readonly TestedRule[];
  readonly kind: ExpressionKind;
  readonly view: View;
  readonly schemesFile: string | undefined;
  /** undefined: no rule uses country or ASN. */
  readonly geo: GeoTables | undefined;
}

export function serve({ rules, kind, view, schemesFile, geo }: BacktestData) {
  const tally = tallyOf(rules, readSchemes(schemesFile)[kind], { view, geoOf: geo && geoFields(geo) });
  return {
    /** `at`: index of the first line. */
    async take(bytes: Uint8Array, at: number) {
      tally.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\n'), at);
    },
    count: async () => tally.count,
  };
}

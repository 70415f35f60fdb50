/** Rules that come, go, expire and are renewed, as the tables of a feed's lists have them. */

import { addressSet } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import fc from 'fast-check';
import { ruleTables, type SharedRules, type SnapshotPart } from '../../src/feed/index/snapshot.ts';
import { levelCode } from '../../src/feed/levels.ts';
import { FAMILIES } from '../../src/feed/variant.ts';
import type { GeoDatabase } from '../../src/ports/geo.ts';
import { RULE_ROLES } from '../../src/rule.ts';

/** Addresses of few bits, so that networks nest, touch and come twice. */
const network: fc.Arbitrary<Network> = fc
  .record({ family: fc.constantFrom(4, 6), bits: fc.nat(0xff), prefix: fc.integer({ min: 24, max: 32 }) })
  .map(({ family, bits, prefix }): Network => {
    const low = (bits & (0xffff_ffff << (32 - prefix))) >>> 0;
    return family === 4 ? { family, address: 0xffff_ff00 + low, prefix } : { family: 6, address: [1, 2, 3, low], prefix: prefix + 96 };
  });
const target = fc.oneof(
  { weight: 20, arbitrary: network.map((about) => ({ kind: 'ip' as const, network: about })) },
  { weight: 1, arbitrary: fc.constantFrom('DE', 'FR').map((country) => ({ kind: 'country' as const, country })) },
);
/** Lists that the rules are of, and the second of the first step. */
const LISTS = 5;
const FIRST = 3;
const rule = fc.record({
  list: fc.nat(LISTS - 1),
  role: fc.constantFrom(...RULE_ROLES),
  target,
  expires: fc.constantFrom(0, 0, 0, 5, 7),
  level: fc.nat(24),
});
const step = fc.record({
  removed: fc.array(fc.nat(), { maxLength: 3 }),
  added: fc.array(rule, { maxLength: 3 }),
  renewed: fc.array(fc.nat(), { maxLength: 2 }),
  later: fc.boolean(),
  query: fc.record({
    family: fc.constantFrom(...FAMILIES),
    action: fc.constantFrom('block', 'allow'),
    isRated: fc.boolean(),
    isGuarded: fc.boolean(),
    subtractAllow: fc.constantFrom('off', 'on', 'workspace'),
  }),
});

export const GEO: GeoDatabase = {
  version: '1',
  hasAsn: () => true,
  ranges: (about) => ({
    v4: Uint32Array.of(
      0xffff_ff40,
      0xffff_ff5f,
      0xffff_ffc0,
      about.kind === 'country' && about.country === 'DE' ? 0xffff_ffdf : 0xffff_ffff,
    ),
    v6: Uint32Array.of(1, 2, 3, 64, 1, 2, 3, 95),
  }),
};
export const GUARDED = addressSet([{ family: 4, address: 0xffff_ff50, prefix: 28 }]);

/** What is asked of the rules after a step. */
export interface AskedOf {
  readonly asOf: number;
  readonly later: boolean;
  readonly query: {
    readonly family: (typeof FAMILIES)[number];
    readonly action: 'block' | 'allow';
    readonly isRated: boolean;
    readonly isGuarded: boolean;
    readonly subtractAllow: 'off' | 'on' | 'workspace';
  };
}

/** Calls what `newCheck` gives, once for each run, with the lists of a feed after each of some random steps. */
export function anyChange(newCheck: () => (parts: readonly SnapshotPart[], asked: AskedOf) => void): void {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 40, maxLength: 60 }), fc.array(step, { maxLength: 12 }), (rules, steps) => {
      const check = newCheck();
      let next = 1;
      const tablesOf = (given: typeof rules, list: number): SharedRules => {
        const first = next;
        const own = given.filter((each) => each.list === list);
        next += own.length;
        const tables = ruleTables(
          own.map((each, i) => ({ ...each, id: first + i })),
          FIRST,
        );
        for (const table of [tables.v4, tables.v6, tables.geo]) {
          for (let row = 0; row < table.length; row++) table.tags[row] |= own[table.ids[row] - first].level;
        }
        return tables;
      };
      // The last list has levels of its own.
      const parts = Array.from({ length: LISTS }, (_, list) => {
        const levels = list === LISTS - 1 ? levelCode('low', null) : 0;
        // A list widens its hosts.
        return { key: String(list), rules: tablesOf(rules, list), levels, hosts: list === 1 ? { v4: 29, v6: 125 } : undefined };
      });
      let asOf = FIRST;
      for (const { removed, added, renewed, later, query } of steps) {
        const gone = new Set(removed.map((id) => (id % next) + 1));
        if (later) asOf += 1;
        for (const [list, { rules: tables }] of parts.entries()) {
          for (const table of [tables.v4, tables.v6, tables.geo]) {
            table.remove(gone, 0);
            for (const row of renewed.map((number) => number % 60)) {
              if (row < table.length && table.expires[row] !== 0) table.renew(row, table.expires[row] + 2);
            }
          }
          const more = tablesOf(added, list);
          for (const family of ['v4', 'v6', 'geo'] as const) tables[family].addAll(more[family]);
          tables.geoTargets.push(...more.geoTargets);
          tables.renewalsAskedThrough = asOf;
        }
        check(parts, { asOf, later, query });
      }
    }),
    { numRuns: 300, seed: 5 },
  );
}

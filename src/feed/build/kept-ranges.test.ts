import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressSet } from '../../network/address-set.ts';
import type { Network } from '../../network/network.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import { RULE_ROLES } from '../../rule.ts';
import { classTable, levelCode } from '../levels.ts';
import { FAMILIES } from '../variant.ts';
import { type ContentRules, feedContent } from './content.ts';
import { FeedRanges } from './feed-ranges.ts';
import { ruleTables } from './snapshot.ts';

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
const LISTS = 5;
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
  later: fc.boolean(),
  query: fc.record({
    family: fc.constantFrom(...FAMILIES),
    action: fc.constantFrom('block', 'allow'),
    isRated: fc.boolean(),
    isGuarded: fc.boolean(),
    subtractAllow: fc.constantFrom('off', 'on', 'workspace'),
  }),
});

const GEO: GeoDatabase = {
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
const GUARDED = addressSet([{ family: 4, address: 0xffff_ff50, prefix: 28 }]);
const RATED = classTable({ confidence: 'high', severity: 'low' });

test('what is kept between builds gives the content that rules built once give, whatever comes, goes and expires in whichever list', () => {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 40, maxLength: 60 }), fc.array(step, { maxLength: 12 }), (rules, steps) => {
      const given = rules.map((each, i) => ({ ...each, id: i + 1 }));
      const parts = Array.from({ length: LISTS }, (_, list) => {
        const tables = ruleTables(
          given.filter((each) => each.list === list),
          3,
        );
        for (const table of [tables.v4, tables.v6, tables.geo]) {
          for (let row = 0; row < table.length; row++) table.tags[row] |= given[table.ids[row] - 1].level;
        }
        // The last list has levels of its own.
        return { rules: tables, levels: list === LISTS - 1 ? levelCode('low', null) : 0 };
      });
      const ranges = new FeedRanges();
      let [asOf, next] = [3, given.length + 1];
      for (const { removed, added, later, query } of steps) {
        const gone = new Set(removed.map((id) => (id % next) + 1));
        for (const [list, { rules: tables }] of parts.entries()) {
          for (const table of [tables.v4, tables.v6, tables.geo]) table.remove(gone, 0);
          const more = ruleTables(
            added.filter((each) => each.list === list).map((each) => ({ ...each, id: next++ })),
            asOf,
          );
          for (const family of ['v4', 'v6', 'geo'] as const) tables[family].addAll(more[family]);
          tables.geoTargets.push(...more.geoTargets);
        }
        if (later) asOf += 1;
        for (const part of parts) part.rules.renewalsAskedThrough = asOf;
        const { family, action, isRated, isGuarded, subtractAllow } = query;
        const snapshot: ContentRules = { parts, head: { profile: { subtractAllow } } };
        const fresh = parts.map(({ rules: { kept: _, ...tables }, levels }) => ({ rules: tables, levels }));
        const asked = {
          family,
          action,
          asOf,
          classes: isRated ? RATED : undefined,
          guarded: isGuarded ? GUARDED : undefined,
        } as const;
        assert.deepEqual(feedContent({ ...snapshot, ranges }, asked, GEO), feedContent({ ...snapshot, parts: fresh }, asked, GEO));
        // Two feeds that share a list.
        const other = { ...snapshot, parts: [{ ...parts[LISTS - 1], levels: 0 }] };
        assert.deepEqual(
          feedContent(other, asked, GEO),
          feedContent({ ...other, parts: [{ ...fresh[LISTS - 1], levels: 0 }] }, asked, GEO),
        );
        if (later) ranges.forgetUnused();
      }
    }),
    { numRuns: 300, seed: 5 },
  );
});

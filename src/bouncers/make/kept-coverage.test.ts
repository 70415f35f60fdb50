import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GEO, GUARDED, whateverChanges } from '../../../test/support/changing-rules.ts';
import { activeParts } from '../../document/held/feed-ranges.ts';
import { feedContent } from '../../document/make/content.ts';
import { blockingNetworks, blockingRules, coveredBy } from './covered-networks.ts';
import { KeptCoverage } from './kept-coverage.ts';
import { networksOf } from './network-key.ts';

test('D14.5 the expiries that are kept between builds are those that all rules give, whatever comes, goes, expires and is renewed', () => {
  whateverChanges(() => {
    const kept = new KeptCoverage();
    return (parts, { asOf, query: { isGuarded, isRated, subtractAllow } }) => {
      const query = { family: 'both', action: 'block', asOf, classes: undefined, guarded: isGuarded ? GUARDED : undefined } as const;
      const { classes } = feedContent({ parts, head: { profile: { subtractAllow } } }, query, GEO);
      const { v4, v6 } = classes[0] ?? networksOf([]);
      const active = activeParts(parts, query, GEO);
      const rules = blockingRules(active);
      const listOf = (part: number) => 10 + 10 * part;
      // Now and then the geo data are others.
      const found = kept.of(active, rules, { v4, v6 }, { geoVersion: String(isRated && isGuarded), listOf });
      assert.deepEqual(found, coveredBy(blockingNetworks(active, rules, listOf), v4, v6));
    };
  });
});

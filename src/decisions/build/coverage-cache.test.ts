import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyChange, GEO, GUARDED } from '../../../test/support/changing-rules.ts';
import { feedContent } from '../../feed/build/content.ts';
import { activeParts } from '../../feed/index/feed-ranges.ts';
import { COMPLETING_LIST, ONE_LIST } from './coverage.ts';
import { CoverageCache } from './coverage-cache.ts';
import { blockingNetworks, blockingRules, coveredBy } from './covered-networks.ts';
import { networksOf } from './network-key.ts';

test('D14.5 the expiries that are kept between builds are those that all rules give, whatever comes, goes, expires and is renewed', () => {
  anyChange(() => {
    const kept = new CoverageCache();
    return (parts, { asOf, query: { isGuarded, isRated, subtractAllow } }) => {
      const query = { family: 'both', action: 'block', asOf, classes: undefined, guarded: isGuarded ? GUARDED : undefined } as const;
      const { classes } = feedContent({ parts, head: { profile: { subtractAllow } } }, query, GEO);
      const { v4, v6 } = classes[0] ?? networksOf([]);
      const active = activeParts(parts, query, GEO);
      const rules = blockingRules(active);
      // Now and then the geo data are others, and bouncers are told of lists.
      const attribution = isRated ? COMPLETING_LIST : ONE_LIST;
      const lists = { of: (part: number) => 10 + 10 * part, names: [], attribution, order: String(isRated) };
      const found = kept.of(active, rules, { v4, v6 }, { geoVersion: String(isRated && isGuarded), lists });
      assert.deepEqual(found, coveredBy(blockingNetworks(active, rules, lists), v4, v6, attribution));
    };
  });
});

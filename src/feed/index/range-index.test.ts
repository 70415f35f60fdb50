import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyChange, GEO, GUARDED } from '../../../test/support/changing-rules.ts';
import { feedContent } from '../build/content.ts';
import { classTable } from '../levels.ts';
import { type FeedPart, FeedRanges } from './feed-ranges.ts';

const RATED = classTable({ confidence: 'high', severity: 'low' });

test('what is kept between builds gives the content that rules built once give, whatever comes, goes and expires in whichever list', () => {
  anyChange(() => {
    const ranges = new FeedRanges();
    return (parts, { asOf, later, query: { family, action, isRated, isGuarded, subtractAllow } }) => {
      const head = { profile: { subtractAllow } };
      const fresh = parts.map(({ rules: { rangeIndex: _, ...tables }, levels, hosts }) => ({ rules: tables, levels, hosts }));
      const classes = isRated ? RATED : undefined;
      const asked = { family, action, asOf, classes, guarded: isGuarded ? GUARDED : undefined } as const;
      assert.deepEqual(feedContent({ parts, head, ranges }, asked, GEO), feedContent({ parts: fresh, head }, asked, GEO));
      // Another feed that has one of the lists.
      const one = (of: readonly FeedPart[]) => [{ rules: of.at(-1)!.rules, levels: 0 }];
      assert.deepEqual(feedContent({ parts: one(parts), head }, asked, GEO), feedContent({ parts: one(fresh), head }, asked, GEO));
      if (later) ranges.forgetUnused();
    };
  });
});

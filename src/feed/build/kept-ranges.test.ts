import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GEO, GUARDED, whateverChanges } from '../../../test/support/changing-rules.ts';
import { classTable } from '../levels.ts';
import { type ContentRules, feedContent } from './content.ts';
import { KeptRanges } from './kept-ranges.ts';

const RATED = classTable({ confidence: 'high', severity: 'low' });

test('what is kept between builds gives the content that rules built once give, whatever comes, goes and expires', () => {
  whateverChanges(() => {
    const kept = new KeptRanges();
    return (tables, { asOf, later, query: { family, action, isRated, isGuarded, subtractAllow } }) => {
      const snapshot: ContentRules = { ...tables, head: { profile: { subtractAllow } }, renewalsAskedThrough: asOf };
      const classes = isRated ? RATED : undefined;
      const asked = { family, action, asOf, classes, guarded: isGuarded ? GUARDED : undefined } as const;
      assert.deepEqual(feedContent({ ...snapshot, kept }, asked, GEO), feedContent(snapshot, asked, GEO));
      if (later) kept.forgetUnused();
    };
  });
});

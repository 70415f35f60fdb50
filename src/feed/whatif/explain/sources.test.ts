import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../../account/list.ts';
import type { AccessAction } from '../../../rule.ts';
import type { FeedSource, StoredAccessRule } from './explanation.ts';
import { rulesByFeed } from './sources.ts';

const stored = (id: number, listId: string, action: AccessAction): StoredAccessRule => ({
  ...{ id, seq: id, kind: 'access_rule', createdAt: 0, updatedAt: 0, listId },
  rule: {
    ...{ name: null, reason: null, labels: null, config: null, confidence: null, severity: null, ruleRef: null, expiresAt: null },
    ...{ action, target: { kind: 'ip', network: { family: 4, address: 0xc0000200 + id, prefix: 32 } } },
  },
});
const feedOf = (kind: FeedSource['kind'], lists: readonly string[] | null): FeedSource => ({
  ...{ kind, id: kind, profile: { name: kind, ...NO_SETTINGS }, lists: lists && new Set(lists) },
});

test('D10.23 a feed is compared with the rules of its lists and with never-block rules alone, in their order', () => {
  const rules = Array.from({ length: 3000 }, (_, n) => stored(n, `list ${n % 1000}`, n % 500 === 0 ? 'allow' : 'block'));
  const rulesOf = rulesByFeed(rules);
  assert.equal(rulesOf(feedOf('workspace', null)), rules);
  const [own, both] = [rulesOf(feedOf('list', ['list 7'])), rulesOf(feedOf('composed', ['list 9', 'list 7', 'list 500']))];
  const allows = [0, 500, 1000, 1500, 2000, 2500];
  const ids = (found: readonly StoredAccessRule[]) => found.map(({ id }) => id);
  assert.deepEqual(
    ids(own),
    [7, 1007, 2007, ...allows].sort((a, b) => a - b),
  );
  assert.deepEqual(
    ids(both),
    [7, 9, 1007, 1009, 2007, 2009, ...allows].sort((a, b) => a - b),
  );
});

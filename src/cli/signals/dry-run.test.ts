import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForecastFields } from '../../feed/monitor/forecast-fields.ts';
import { NOTHING_TRIED, sumLines, withBatch } from './dry-run.ts';

const row = (name: string, before: number, after: number, more: object = {}) => ({
  ...{ id: name, kind: 'list' as const, name, action: 'block' as const, entries_before: before, entries_after: after, entry_limit: 10 },
  ...more,
});
const sum = (...answers: ForecastFields[]) => answers.reduce(withBatch, NOTHING_TRIED);

test('one batch is told as it is, several as the sum of what each changes by itself', () => {
  const one = sum({ feeds: [row('edge', 4, 9), { ...row('main', 9, 8), id: null, kind: 'workspace' }] });
  assert.deepEqual(sumLines(one), ['edge (block): 4 entries of 10, 5 more', 'workspace main (block): 9 entries of 10, 1 fewer']);
  const many = sum(
    { feeds: [row('edge', 4, 9)], feeds_left_out: 2 },
    { feeds: [row('edge', 4, 11, { warning: 'goes over' })], feeds_left_out: 1 },
    { feeds: 'unknown', feeds_reason: 'no time' },
    { feeds: 'unknown', feeds_reason: 'no time' },
  );
  assert.deepEqual(sumLines(many), [
    'edge (block): 4 entries of 10, 12 more, the sum of 4 batches that were each tried alone: OVER ITS CAP',
    'edge goes over',
    'and 2 more feeds, which were not counted',
    'what changes in feeds is unknown: no time',
  ]);
  assert.deepEqual(sumLines(sum({})), ['what changes in feeds is unknown: the service is older than this command']);
});

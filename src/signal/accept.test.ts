import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import type { Caller } from '../account/caller.ts';
import { NO_GUARD_RAILS } from '../account/guard-rails.ts';
import type { Message } from '../ports/stream.ts';
import { acceptance, type Foreseen, type Outcome } from './accept.ts';
import { inOneGo } from './batch.ts';
import { entryErrors } from './faults.ts';

const caller: Caller = {
  ...{ keyId: 'k', workspaceId: 'w', organizationId: 'o', subscription: 'active', permissions: ['signal:write'] },
  ...{ listId: null, feedId: null, guardRails: NO_GUARD_RAILS, sample: null, networks: [], expiresAt: null },
};
const event = (ip: string) => ({ type: 'access_rules', action: 'block', ip });

/** Takes batches into `published`; a large one is being judged from `begun` until its `finish` is called. */
function world({ perMinute = 1000, streamDown = false, isSlow = false } = {}) {
  const seen = {
    published: [] as Message[][],
    foreseen: [] as Foreseen[],
    counted: [] as Outcome[],
    begun: [] as (() => void)[],
    writing: [] as (() => void)[],
  };
  let sent = 0;
  const accept = acceptance({
    landingList: async (_caller, asked) => (asked === 'none' ? { code: 'NOT_FOUND', message: 'No such access-rules list' } : 'default'),
    stream: {
      draft() {
        const messages: Message[] = [];
        return {
          get length() {
            return messages.length;
          },
          push: (message) => void messages.push(message),
          async publish() {
            if (streamDown) throw new Error('disk full');
            if (isSlow) await new Promise<void>((end) => seen.writing.push(end));
            seen.published.push(messages);
          },
          discard: () => undefined,
        };
      },
    },
    takeEntries(_keyId, entries) {
      sent += entries;
      return sent > perMinute ? 7 : 0;
    },
    ruleQuota: async () => undefined,
    check: () => ({ hasAsn: () => true, isCountry: () => true, schemes: packagedSchemes() }),
    trials: async () => undefined,
    run: {
      usual: async (work) => inOneGo(work),
      async large(work) {
        await new Promise<void>((finish) => seen.begun.push(finish));
        return inOneGo(work);
      },
    },
    foresee: (signals) => void seen.foreseen.push(signals),
    count: (outcome) => void seen.counted.push(outcome),
    now: () => Date.parse('2026-11-20T10:00:00Z'),
    logFailure: () => undefined,
  });
  return { ...seen, accept };
}

const batch = { version: 1, caller, list: undefined, dryRun: false } as const;

test('4.1, 4.2 bytes and values are judged alike; what is wrong comes as entry, field and message', async () => {
  const entries = [event('192.0.2.1'), { type: 'access_rules', action: 'block', ip: 'x', expiration: -1 }, { ...event(''), asn: 'AS1' }];
  const { accept, published, counted } = world();
  const [ofBytes, ofValues] = [
    await accept({ ...batch, entries: Buffer.from(JSON.stringify(entries)) }),
    await accept({ ...batch, entries }),
  ];
  for (const result of [ofBytes, ofValues]) {
    assert(result.refused === undefined);
    const { accepted, failed, faults } = result;
    assert.deepEqual([accepted, failed], [2, 1]);
    assert.deepEqual(faults, [
      { entry: 1, field: 'expiration', message: 'must be an integer from 0 to 3155760000' },
      { entry: 1, field: 'ip', message: 'is not an IP address or network' },
    ]);
    assert.equal(entryErrors(faults)[0]!.message.split(';').length, 2);
  }
  assert.deepEqual(
    published[0]!.map(({ value }) => JSON.parse(value)),
    published[1]!.map(({ value }) => JSON.parse(value)),
  );
  const sums = counted.map(({ became, entries: all, accepted, failed }) => [
    became,
    all,
    accepted.get('access_rule'),
    failed.get('access_rule'),
  ]);
  assert.deepEqual(sums, Array(2).fill(['accepted', 3, 2, 1]));
});

test('D10.14 a dry run hands over every access rule, a batch those that feeds are watched for; only the batch is published', async () => {
  const entries = [event('192.0.2.1'), { type: 'access_rules', action: 'block', country: 'NL' }];
  const { accept, published, foreseen } = world();
  const tried = await accept({ ...batch, entries, dryRun: true });
  assert(tried.refused === undefined);
  assert.deepEqual([tried.batchId, tried.foreseen.messages.length, published.length, foreseen.length], [null, 2, 0, 0]);
  const taken = await accept({ ...batch, entries });
  assert(taken.refused === undefined && taken.batchId !== null);
  assert.deepEqual([taken.foreseen.messages.length, published[0]!.length], [1, 2]);
  assert.deepEqual(foreseen, [taken.foreseen]);
});

test('4.2, D3.27 what is refused as a whole has a code, and what became of it is counted', async () => {
  const { accept, counted } = world({ perMinute: 2 });
  const refusal = async (more: object) => (await accept({ ...batch, entries: [event('192.0.2.1')], ...more })).refused!;
  assert.deepEqual(await refusal({ list: 'none' }), { code: 'NOT_FOUND', message: 'No such access-rules list' });
  const { code, message, faults } = await refusal({ entries: Buffer.from('[{}, 1') });
  assert.deepEqual([code, message, faults!.length], ['USAGE', 'body must be valid JSON: it ends too early', 1]);
  assert.equal(
    (await refusal({ entries: [{ type: 'access_rules', action: 'x' }] })).message,
    'Entry 0: action must be one of: block, unblock',
  );
  assert.deepEqual(await refusal({ entries: [event('192.0.2.1'), event('192.0.2.2')] }), {
    code: 'LIMITED',
    message: 'Too many entries',
    retryAfter: 7,
  });
  assert.deepEqual(
    counted.map(({ became }) => became),
    ['refused', 'limited'],
  );
  const down = world({ streamDown: true });
  const failed = await down.accept({ ...batch, entries: [event('192.0.2.1')] });
  assert.equal(failed.refused!.code, 'STREAM_UNAVAILABLE');
  assert.deepEqual(
    down.counted.map(({ became }) => became),
    ['not_published'],
  );
});

test('D3.28 large batches are judged one after the other, whoever sends them and whether they are tried only', async () => {
  const { accept, begun } = world();
  const large = Buffer.concat([Buffer.from(JSON.stringify([event('192.0.2.1')])), Buffer.alloc(2 * 1024 * 1024, ' ')]);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const all = [
    accept({ ...batch, entries: large }),
    accept({ ...batch, entries: large, dryRun: true }),
    accept({ ...batch, entries: large, dryRun: true }),
  ];
  await turn();
  assert.equal(begun.length, 3, 'all are looked at, which builds nothing');
  for (const finish of begun.splice(0)) finish();
  for (let left = all.length; left > 0; left -= 1) {
    await turn();
    assert.equal(begun.length, 1, 'one is judged');
    begun.pop()!();
  }
  assert.deepEqual(
    (await Promise.all(all)).map(({ accepted }) => accepted),
    [1, 1, 1],
  );
});

test('D3.28 of batches of more than 16 KiB eight of a workspace are taken at a time, those of others and small ones beside them', async () => {
  const { accept, writing } = world({ isSlow: true });
  const small = JSON.stringify([event('192.0.2.1')]);
  const usual = Buffer.concat([Buffer.from(small), Buffer.alloc(17 * 1024, ' ')]);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const all = Array.from({ length: 20 }, () => accept({ ...batch, entries: usual }));
  await turn();
  assert.equal(writing.length, 8);
  all.push(
    accept({ ...batch, entries: Buffer.from(small) }),
    accept({ ...batch, caller: { ...caller, workspaceId: 'v' }, entries: usual }),
  );
  await turn();
  assert.equal(writing.length, 10);
  for (; writing.length > 0; await turn()) for (const end of writing.splice(0)) end();
  assert.deepEqual(new Set((await Promise.all(all)).map(({ accepted }) => accepted)), new Set([1]));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import { Bouncers } from './bouncers.ts';
import { bouncerLog, droppedLog, writeBouncers } from './ledger.ts';

const MARK = { builder: 'a', version: 7 };
const FOUND = { count: 3, networks: 2, leftOut: { networks: 0, addresses: 0 } };
const name = (workspaceId: string, userAgent: string) => ({
  workspaceId,
  feedId: null,
  keyId: `key of ${workspaceId}`,
  userAgent,
  address: '192.0.2.1',
});

/** Pulls of a name, each a second after the one before. */
function pull(bouncers: Bouncers, who: ReturnType<typeof name>, times = 1): void {
  for (let n = 0; n < times; n += 1) bouncers.answered(who, FOUND, { mark: MARK, filter: '' }, { wall: n * 1000, monotonic: n * 1000 });
}

test('D14.14 ten thousand names of one tenant make no bouncer of another one be told everything again', () => {
  const bouncers = new Bouncers();
  const mine = name('mine', 'firewall/1');
  pull(bouncers, mine, 2);
  for (let n = 0; n < 10_050; n += 1) {
    pull(bouncers, name('junk', `x/${n}`));
    bouncers.reported(name('junk', `y/${n}`), 'x'.repeat(4096), n);
  }
  assert.deepEqual(bouncers.since(mine, ''), MARK);
  assert.deepEqual([[...bouncers.takeSeen()].length, [...bouncers.takeSeen()].length], [5_001, 0]);
  bouncers.reported(mine, '{}', 1);
  const [seen] = bouncers.takeSeen();
  assert.deepEqual([seen!.userAgent, seen!.metrics, seen!.lastStream], ['firewall/1', '{}', 1000]);
});

test('D14.16 what had to go of the bouncers of a workspace is said once an hour, and what that means', () => {
  const lines: string[] = [];
  let now = 0;
  const dropped = droppedLog(
    (level, line) => lines.push(`${level} ${line}`),
    () => now,
  );
  for (let n = 0; n < 3; n += 1) for (const where of ['memory', 'store'] as const) dropped({ workspaceId: 'w', feedId: null, where });
  assert.equal(lines.length, 2);
  assert.match(
    lines[0]!,
    /^warn bouncers of the workspace w exceed the limit in memory: its own feed was evicted, and its bouncers get a full resync/,
  );
  assert.match(lines[1]!, / in the store: its own feed was evicted, and its bouncers get no deletions of earlier networks/);
  now += 3_600_000;
  dropped({ workspaceId: 'w', feedId: 'f', where: 'memory' });
  assert.match(lines[2]!, /: the list or feed f was evicted/);
});

test('D14.3 however often a bouncer pulls what has not changed, little is known of it, and where it is is not forgotten', () => {
  const bouncers = new Bouncers();
  const mine = name('mine', 'firewall/1');
  for (let n = 0; n < 100_000; n += 1) {
    bouncers.answered(mine, FOUND, { mark: MARK, filter: '' }, { wall: n, monotonic: n / 100 });
  }
  const later = { builder: 'a', version: 8 };
  bouncers.answered(mine, FOUND, { mark: later, filter: '' }, { wall: 1, monotonic: 2_000 });
  assert.deepEqual(bouncers.since(mine, ''), MARK);
  for (const at of [70_000, 140_000]) bouncers.answered(mine, FOUND, { mark: later, filter: '' }, { wall: 1, monotonic: at });
  assert.deepEqual(bouncers.since(mine, ''), later);
});

test('D14.14, D50.9 bouncers are written 200 at a time, in the order of the table, and their number is checked once', async () => {
  const written: number[] = [];
  const order: string[] = [];
  const errors: string[] = [];
  const bouncers = new Bouncers();
  const store = {
    async recordBouncers(slice: readonly Bouncer[]) {
      if (written.length === 4) throw new Error('away');
      written.push(slice.length);
      order.push(...slice.map(({ keyId }) => keyId));
    },
    async forgetBouncers() {
      written.push(0);
    },
  };
  const write = writeBouncers(
    () => bouncers.takeSeen(),
    store,
    () => 0,
    (error) => errors.push(error.message),
  );
  for (let n = 0; n < 450; n += 1) pull(bouncers, { ...name('a', 'x'), keyId: `k/${999 - n}` });
  await write();
  assert.deepEqual(order, order.toSorted());
  assert.deepEqual([written, errors], [[200, 200, 50, 0], []]);
  for (let n = 0; n < 450; n += 1) pull(bouncers, name('a', `x/${n}`));
  await write();
  assert.deepEqual([written.length, errors], [4, ['away']]);
});

test('D14.14 the log has twenty lines a minute about the bouncers of one workspace', () => {
  const lines: string[] = [];
  let now = 0;
  const bouncers = new Bouncers(
    bouncerLog(
      (_, line) => lines.push(line),
      () => now,
    ),
  );
  for (let n = 0; n < 1000; n += 1) pull(bouncers, name('junk', `crowdsec-firewall-bouncer/${n}`));
  assert.equal(lines.length, 21);
  assert.match(lines.at(-1)!, /no more bouncers of the workspace junk are logged in this minute/);
  pull(bouncers, name('mine', 'x/1'));
  assert.equal(lines.length, 22);
  now += 60_000;
  pull(bouncers, name('junk', 'one more'));
  assert.equal(lines.length, 23);
});

test('D50.6 a difference that the next report has repaired is still known, and written once', () => {
  const bouncers = new Bouncers();
  const who = name('mine', 'kernel/1');
  const check = { version: 'a.7', count: 2, digest: 'd' };
  bouncers.answered(who, { ...FOUND, check }, { mark: MARK, filter: '' }, { wall: 0, monotonic: 0 });
  bouncers.enforces(who, { ...check, count: 1 }, 1000);
  bouncers.enforces(who, check, 1001);
  const seen = () => [...bouncers.takeSeen()].map(({ enforced, differedAt }) => [enforced?.verdict, differedAt]);
  assert.deepEqual(seen(), [['same', 1000]]);
  bouncers.enforces(who, check, 2000);
  assert.deepEqual(seen(), [['same', null]], 'the store keeps the earlier one');
});

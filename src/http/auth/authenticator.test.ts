import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Caller } from '../../account/caller.ts';
import { NO_GUARD_RAILS } from '../../account/guard-rails.ts';
import type { Group } from '../groups.ts';
import { authenticator } from './authenticator.ts';

const KEY = 'weir_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const NOW = 1_800_000_000_000;
const DAY = 24 * 3600 * 1000;

/** A store that counts its reads and can be down. `set` is by how much the wall clock was set, ms. */
function world(caller: Partial<Caller> = {}) {
  const state = { now: NOW, set: 0, revision: 1, down: false, reads: 0, lookups: 0, known: true };
  const owner: Caller = {
    keyId: 'k',
    workspaceId: 'w',
    organizationId: 'o',
    subscription: 'active',
    permissions: ['feed:read'],
    listId: null,
    feedId: null,
    guardRails: NO_GUARD_RAILS,
    sample: null,
    networks: [],
    expiresAt: null,
    ...caller,
  };
  const store = {
    async keyRevision() {
      state.reads += 1;
      if (state.down) throw new Error('down');
      return state.revision;
    },
    async findCaller(digest: Uint8Array) {
      state.lookups += 1;
      if (state.down) throw new Error('down');
      return state.known && Buffer.from(digest).equals(hash('sha256', KEY, 'buffer')) ? owner : undefined;
    },
  };
  const auth = authenticator({ store, now: () => state.now + state.set, monotonic: () => state.now });
  const ask = (authorization?: string, group: Group = 'feed', ip = '192.0.2.1') => auth.authenticate(group, authorization, { ip });
  const status = async (...args: Parameters<typeof ask>) => {
    const answer = await ask(...args);
    return 'status' in answer ? answer.status : 200;
  };
  return { state, store, auth, ask, status };
}
const bearer = (key: string) => `Bearer ${key}`;
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

test('5 Bearer on both groups, Basic with the user api on feeds only', async () => {
  const { status } = world();
  assert.equal(await status(bearer(KEY), 'signal'), 200);
  assert.equal(await status(`bEARER   ${KEY} `, 'feed'), 200);
  assert.equal(await status(basic(`api:${KEY}`), 'feed'), 200);
  assert.equal(await status(basic(`api:${KEY}`).replace('Basic', 'bAsIc'), 'feed'), 200);
  assert.equal(await status(basic(`api:${KEY}`), 'signal'), 401);
  const encoded = Buffer.from(`api:${KEY}`).toString('base64');
  for (const spelling of [
    `${encoded.slice(0, 8)}!${encoded.slice(8)}`,
    `${encoded.slice(0, 8)}-_${encoded.slice(8)}`,
    `${encoded}AAAA`,
    encoded.slice(1),
  ]) {
    assert.equal(await status(`Basic ${spelling}`), 401, spelling);
  }
  for (const pair of [`Api:${KEY}`, `:${KEY}`, KEY, `api:x:${KEY}`, `api :${KEY}`]) assert.equal(await status(basic(pair)), 401, pair);
});

test('5.1 missing, malformed and unknown keys, and keys without context, get 401 with a challenge', async () => {
  const { ask, status } = world();
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    KEY,
    `Token ${KEY}`,
    bearer('short'),
    bearer('x'.repeat(65)),
    bearer(`${KEY}x`),
    'Basic !',
  ]) {
    assert.equal(await status(header), 401, header);
  }
  assert.deepEqual(await ask(), { status: 401, headers: { 'WWW-Authenticate': ['Basic realm="threat-feed", charset="UTF-8"', 'Bearer'] } });
  assert.deepEqual(await ask(undefined, 'signal'), { status: 401, headers: { 'WWW-Authenticate': ['Bearer'] } });
  assert.equal(await world({ workspaceId: '' }).status(bearer(KEY)), 401);
  assert.equal(await world({ organizationId: '' }).status(bearer(KEY)), 401);
});

test('D2 a remembered key is answered at once; the revision is read at most once a second', async () => {
  const { state, ask } = world();
  const first = ask(bearer(KEY));
  assert(first instanceof Promise);
  await first;
  for (let ms = 0; ms < 1000; ms += 100) {
    state.now = NOW + ms;
    assert(!(ask(bearer(KEY)) instanceof Promise));
  }
  assert.deepEqual([state.reads, state.lookups], [1, 1]);
  state.now = NOW + 1000;
  await Promise.all(Array.from({ length: 50 }, () => ask(bearer(KEY))));
  assert.deepEqual([state.reads, state.lookups], [2, 1]);
});

test('D2 a change of a key is effective within 2 s', async () => {
  const { state, status } = world();
  assert.equal(await status(bearer(KEY)), 200);
  state.known = false;
  state.revision += 1;
  state.now += 999;
  assert.equal(await status(bearer(KEY)), 200);
  state.now += 1;
  assert.equal(await status(bearer(KEY)), 401);
  state.known = true;
  assert.equal(await status(bearer(KEY)), 200);
});

test('D2 an expired key gets 401 at its instant', async () => {
  const { state, status } = world({ expiresAt: NOW + 500 });
  assert.equal(await status(bearer(KEY)), 200);
  state.now = NOW + 499;
  assert.equal(await status(bearer(KEY)), 200);
  state.now = NOW + 500;
  assert.equal(await status(bearer(KEY)), 401);
});

test('D2 while the store cannot be read, remembered keys are honoured for 24 h and unknown ones get 500, never 401', async () => {
  const { state, status, ask } = world();
  assert.equal(await status(bearer(KEY)), 200);
  state.down = true;
  state.now += 1000;
  assert.equal(await status(bearer(KEY)), 200);
  assert.equal(await status(bearer('weir_never_seen')), 500);
  assert(!(ask(bearer(KEY)) instanceof Promise));
  state.now = NOW + DAY;
  assert.equal(await status(bearer(KEY)), 200);
  state.now += 1;
  assert.equal(await status(bearer(KEY)), 500);
  state.down = false;
  state.now += 2000;
  await status(bearer(KEY));
  await new Promise(setImmediate);
  assert.equal(await status(bearer(KEY)), 200);
  assert.equal(await status(bearer('weir_never_seen')), 401);
});

test('D2 a process that never read the store answers 500', async () => {
  const { state, status } = world();
  state.down = true;
  assert.equal(await status(bearer(KEY)), 500);
});

test('D2 nobody waits for a store that is known to be down', async () => {
  const { state, ask, status } = world();
  await status(bearer(KEY));
  state.down = true;
  state.now += 1000;
  await status(bearer(KEY));
  let reads = 0;
  for (let ms = 0; ms < 10; ms += 1) {
    state.now += 1000;
    const before = state.reads;
    assert.equal('status' in (await ask(bearer(KEY))), false);
    reads += state.reads - before;
    await new Promise(setImmediate);
  }
  assert.equal(reads, 10);
});

test('D2 20 failed authentications a second and address, then 429; never against a valid key', async () => {
  const { state, status, ask } = world();
  for (let i = 0; i < 20; i += 1) assert.equal(await status(bearer('weir_wrong_key')), 401);
  const answer = await ask(bearer('weir_wrong_key'));
  assert('status' in answer);
  assert.deepEqual([answer.status, answer.headers], [429, { 'Retry-After': '1' }]);
  assert.equal(await status('Digest weir_wrong_key'), 429);
  assert.equal(await status(bearer(KEY)), 200);
  assert.equal(await status(bearer('weir_wrong_key'), 'feed', '192.0.2.2'), 401);
  state.now += 1000;
  assert.equal(await status(bearer('weir_wrong_key')), 401);
});

test('D2 an IPv6 /64 counts as one address, an IPv4-mapped one as IPv4', async () => {
  const { status } = world();
  const guess = (ip: string) => status(bearer('weir_wrong_key'), 'feed', ip);
  for (let i = 0; i < 20; i += 1) assert.equal(await guess(`2001:db8::${i.toString(16)}`), 401);
  assert.equal(await guess('2001:db8::ffff:ffff:ffff:ffff'), 429);
  assert.equal(await guess('2001:db8:0:1::1'), 401);
  for (let i = 0; i < 20; i += 1) assert.equal(await guess('::ffff:192.0.2.9'), 401);
  assert.equal(await guess('192.0.2.9'), 429);
});

test('D2.10 a request without credentials is challenged, never counted and never 429', async () => {
  const { status, auth } = world();
  for (let i = 0; i < 100; i += 1) assert.equal(await status(i % 2 === 0 ? undefined : ''), 401);
  assert.deepEqual(auth.takeFailed(), []);
  for (let i = 0; i < 20; i += 1) assert.equal(await status(bearer('weir_wrong_key')), 401);
  assert.equal(await status(bearer('weir_wrong_key')), 429);
  assert.equal(await status(), 401, 'also beside wrong keys of the same address');
});

test('D2.11 wrong keys are counted by address', async () => {
  const { status, auth } = world();
  for (let i = 0; i < 3; i += 1) await status(bearer(`weir_wrong_key_${i}`), 'feed', `2001:db8::${i}`);
  for (let i = 0; i < 30; i += 1) await status('Basic junk', 'signal', '192.0.2.7');
  await status(bearer(KEY));
  assert.deepEqual(auth.takeFailed(), [
    { source: '192.0.2.7', count: 30 },
    { source: '2001:db8::/64', count: 3 },
  ]);
  assert.deepEqual(auth.takeFailed(), []);
});

test('D2.12 an unknown key is looked up once until the key revision moves; a key made in between works within 2 s', async () => {
  const { state, status } = world();
  state.known = false;
  await Promise.all(Array.from({ length: 50 }, () => status(bearer(KEY))));
  assert.equal(state.lookups, 1, 'shared');
  for (let i = 0; i < 10; i += 1) {
    state.now += 500;
    assert.equal(await status(bearer(KEY), 'feed', `192.0.2.${i}`), 401);
  }
  assert.equal(state.lookups, 1, 'remembered');
  state.known = true;
  state.revision += 1;
  state.now += 1000;
  assert.equal(await status(bearer(KEY)), 200);
  assert.equal(state.lookups, 2);
});

test('D2.9 a key that was unknown gets 500, not 401, while the store cannot be read', async () => {
  const { state, status } = world();
  assert.equal(await status(bearer('weir_wrong_key')), 401);
  state.down = true;
  state.now += 1000;
  assert.equal(await status(bearer('weir_wrong_key')), 500);
});

test('D2.12 while 5,000 keys are looked up further unknown ones get 429; a key that was known never does', async () => {
  const { state, status, store } = world();
  assert.equal(await status(bearer(KEY)), 200);
  const { findCaller } = store;
  const answers = Promise.withResolvers<void>();
  let asked = 0;
  store.findCaller = async (digest) => {
    asked += 1;
    await answers.promise;
    return findCaller(digest);
  };
  state.revision += 1;
  state.now += 1000;
  const flood = Array.from({ length: 5100 }, (_, i) => status(bearer(`weir_wrong_key_${i}`), 'feed', `10.0.${i >> 8}.${i & 255}`));
  const valid = status(bearer(KEY));
  // No turn of the event loop: on a busy machine the time that the store may take is over by now.
  for (let i = 0; i < 1000 && asked < 5000; i += 1) await undefined;
  answers.resolve();
  assert.equal(await valid, 200);
  const statuses = await Promise.all(flood);
  assert.deepEqual([statuses.filter((each) => each === 401).length, statuses.filter((each) => each === 429).length], [5000, 100]);
});

test('D4 last-used instants are gathered in memory', async () => {
  const { state, auth, status } = world();
  assert.deepEqual(auth.takeUsed(), []);
  await status(bearer(KEY));
  state.now += 5;
  await status(bearer(KEY));
  await status(bearer('weir_wrong_key'));
  assert.deepEqual(auth.takeUsed(), [{ id: 'k', at: NOW + 5 }]);
  assert.deepEqual(auth.takeUsed(), []);
});

for (const [how, set] of [
  ['back by an hour', -3_600_000],
  ['forward by an hour', 3_600_000],
  ['forward by a day', DAY],
] as const) {
  test(`D2.8 D2.9 D2.7 a clock set ${how} drops no remembered key, freezes no change, and counts no failure twice`, async () => {
    const { state, ask, status } = world();
    assert.equal(await status(bearer(KEY)), 200);
    for (let i = 0; i < 21; i += 1) await status(bearer('weir_wrong_key'));
    state.set = set;
    assert(!(ask(bearer(KEY)) instanceof Promise), 'no read of the store');
    assert.equal(await status(bearer('weir_wrong_key')), 429);
    state.now += 1000;
    assert.equal(await status(bearer('weir_wrong_key')), 401);
    state.down = true;
    state.now += 1000;
    assert.equal(await status(bearer(KEY)), 200, 'remembered');
    state.now += DAY - 2000;
    assert.equal(await status(bearer(KEY)), 200, 'for 24 h');
    state.now += 1001;
    assert.equal(await status(bearer(KEY)), 500, 'not for longer');
    Object.assign(state, { down: false, known: false, revision: 2 });
    state.now += 2000;
    await status(bearer(KEY));
    await new Promise(setImmediate);
    assert.equal(await status(bearer(KEY)), 401, 'a change is effective');
  });
}

test('D2.8, D2.9 a key that is shown again is admitted at once, without a look-up, until it is gone, has expired or changed', async () => {
  const { state, auth, ask } = world();
  const atOnce = (authorization: string, group: Group = 'feed') => {
    const answer = auth.authenticate(group, authorization, { ip: '192.0.2.1' });
    return 'keyId' in answer ? answer.keyId : undefined;
  };
  assert.equal(atOnce(bearer(KEY)), undefined, 'nobody has asked the store for it');
  await ask(bearer(KEY));
  for (let again = 0; again < 2; again += 1) {
    assert.equal(atOnce(bearer(KEY)), 'k');
    for (const other of [bearer(KEY.slice(0, -1)), bearer(`${KEY.slice(0, -1)}H`), bearer(`${KEY}G`), KEY, '']) {
      assert.equal(atOnce(other), undefined, other);
    }
  }
  assert.equal(atOnce(basic(`api:${KEY}`)), 'k');
  assert.equal(atOnce(basic(`api:${KEY}`), 'rules'), undefined, 'a form that this group does not take');

  state.revision = 2;
  state.known = false;
  state.now += 2_000;
  assert.equal(atOnce(bearer(KEY)), undefined, 'the key revision is too old');
  await ask(bearer(KEY));
  assert.equal(atOnce(bearer(KEY)), undefined, 'the key is gone');
  state.down = true;
  state.now += 2_000;
  await ask(bearer(KEY));
  assert.equal(atOnce(bearer(KEY)), undefined, 'nor is it honoured when the store goes away');
});

test('5.1 a key that was shown before is not admitted any more from the instant at which it expires', async () => {
  const { state, auth, ask } = world({ expiresAt: NOW + 500 });
  await ask(bearer(KEY));
  const at = (wall: number) => {
    const answer = auth.authenticate('feed', bearer(KEY), { ip: '192.0.2.1' }, { wall, monotonic: state.now });
    return 'keyId' in answer ? answer.keyId : undefined;
  };
  assert.deepEqual([at(NOW), at(NOW + 499), at(NOW + 500)], ['k', 'k', undefined]);
});

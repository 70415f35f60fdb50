import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lastModified, ManualClock, MemoryStore, Replica, type Reply } from '../../support/feed-world.ts';
import { type Random, seededRandom } from '../../support/random.ts';

const INTERVALS = [0, 0, 30, 30, 30];
const TARGETS = ['', '?format=commented', '?format=csv_indicator&family=v4', '/edge?format=set_elements'];
/** How long a content may wait for its beginning, and stand in for one that waits, ms. */
const WAIT = 5_000;

/** A rule as it was over time. */
interface Life {
  readonly id: number;
  readonly address: number;
  /** Each from an instant (ms) on, to an expiry (whole seconds, Infinity = none). */
  readonly versions: { readonly from: number; readonly expires: number }[];
  removedAt: number;
}

/** Rules that come, are renewed and go at random, and what a feed may and must hold. */
class Model {
  readonly #clock: ManualClock;
  readonly #store: MemoryStore;
  readonly #list: string;
  readonly #random: Random;
  readonly #all: Life[] = [];
  #present: Life[] = [];

  constructor(clock: ManualClock, store: MemoryStore, list: string, random: Random) {
    this.#clock = clock;
    this.#store = store;
    this.#list = list;
    this.#random = random;
  }

  change(): void {
    const kind = this.#present.length === 0 ? 2 : this.#random.below(3);
    if (kind === 0) this.#remove(this.#random.pick(this.#present));
    else if (kind === 1) this.#renew(this.#random.pick(this.#present));
    else this.#add();
  }

  removeAll(): void {
    for (const life of this.#present) this.#remove(life);
  }

  /** What is wrong with a plain body that is served now by a replica with this interval (ms). */
  fault(body: string, interval: number): string | undefined {
    const served = new Set(body.split('\n').slice(0, -1).flatMap(addresses));
    const now = this.#clock.now();
    const since = now - interval - WAIT;
    for (const address of served) {
      const allowed = this.#all.some(
        (life) => life.address === address && versionsWithin(life, since, now).some(({ expires }) => expires > this.#clock.second),
      );
      if (!allowed) return `10.0.0.${address} is served`;
    }
    for (const life of this.#all) {
      const within = versionsWithin(life, since, now);
      const throughout = life.versions[0].from <= since && within.every(({ until, expires }) => expires * 1000 > Math.min(until, now));
      if (throughout && life.removedAt > now && !served.has(life.address)) return `10.0.0.${life.address} is not served`;
    }
    return undefined;
  }

  #add(): void {
    const address = this.#random.below(256);
    const ttl = this.#random.below(2) === 0 ? undefined : 1 + this.#random.below(20);
    const id = this.#store.add(this.#list, `10.0.0.${address}`, ttl === undefined ? {} : { ttl });
    const life = { id, address, versions: [this.#version(ttl)], removedAt: Number.POSITIVE_INFINITY };
    this.#all.push(life);
    this.#present.push(life);
  }

  #renew(life: Life): void {
    const ttl = 1 + this.#random.below(20);
    this.#store.renew(life.id, ttl);
    life.versions.push(this.#version(ttl));
  }

  #remove(life: Life): void {
    this.#store.remove(life.id);
    life.removedAt = this.#clock.now();
    this.#present = this.#present.filter((each) => each !== life);
  }

  #version(ttl: number | undefined) {
    const from = this.#clock.now();
    return { from, expires: ttl === undefined ? Number.POSITIVE_INFINITY : Math.ceil(from / 1000 + ttl) };
  }
}

/** The versions that were in force at some instant of a time. */
function versionsWithin({ versions, removedAt }: Life, from: number, to: number) {
  return versions
    .map((version, i) => ({ ...version, until: Math.min(versions[i + 1]?.from ?? removedAt, removedAt) }))
    .filter((version) => version.from <= to && version.until >= from);
}

/** Last octets of a network in 10.0.0.0/24. */
function addresses(network: string): number[] {
  const [, octet, prefix] = /^10\.0\.0\.(\d+)\/(\d+)$/.exec(network) ?? [];
  return Array.from({ length: 2 ** (32 - Number(prefix)) }, (_, i) => Number(octet) + i);
}

describe('D5 replicas over one store', () => {
  test('an older snapshot never overwrites, and looks older', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    const list = store.addList('edge');
    const replica = new Replica(clock, store);
    store.add(list, '192.0.2.1');
    await replica.get('');
    await clock.advance(5_000);
    store.add(list, '192.0.2.3');
    const other = new Replica(clock, store);
    const newer = await other.get('');
    const newerDigest = await other.get('?format=csv_indicator');
    // Asked for the first time, from the snapshot of 5 s ago.
    const older = await replica.get('?format=csv_indicator');
    assert.equal(older.body, '192.0.2.1,IP,high,high\n');
    assert.ok(lastModified(older) < lastModified(newerDigest));
    await clock.advance(25_000);
    assert.deepEqual(await replica.get(''), newer);
    assert.deepEqual(await replica.get('?format=csv_indicator'), newerDigest);
  });

  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`D5 3 rules come, go, expire and are renewed at random (${seed}): every answer is right for its moment`, async () => {
      const random = seededRandom(seed);
      const clock = new ManualClock();
      const store = new MemoryStore(clock);
      const list = store.addList('edge');
      const model = new Model(clock, store, list, random);
      const replicas = INTERVALS.map((rebuildSeconds) => new Replica(clock, store, { rebuildSeconds }));
      const bodies = new Map<string, string>();
      const latest = replicas.map(() => new Map<string, Reply>());

      const poll = async (i: number, target: string) => {
        const reply = await replicas[i].get(target);
        const { etag } = reply.headers;
        assert.equal(reply.body, bodies.get(etag) ?? reply.body, 'one ETag never names two bodies');
        bodies.set(etag, reply.body);
        assert.ok(lastModified(reply) <= clock.second, 'Last-Modified is never ahead');
        const before = latest[i].get(target);
        if (before !== undefined) {
          assert.ok(lastModified(reply) >= lastModified(before), 'Last-Modified never goes back');
          const since = await replicas[i].get(target, { 'if-modified-since': before.headers['last-modified'] });
          assert.equal(since.status === 304 ? before.body : since.body, reply.body, 'who knows Last-Modified alone misses nothing');
        }
        latest[i].set(target, reply);
        if (target === '') assert.equal(model.fault(reply.body, INTERVALS[i] * 1000), undefined);
        return reply;
      };
      for (let step = 0; step < 300; step++) {
        await clock.advance(random.below(1_500));
        for (let changes = random.below(3); changes > 0; changes--) model.change();
        await Promise.all(Array.from({ length: random.below(4) }, () => poll(random.below(replicas.length), random.pick(TARGETS))));
      }
      model.removeAll();
      store.add(list, '10.0.0.128/25');
      for (let second = 0; second < 31; second++) {
        await clock.advance(1_000);
        for (let i = 0; i < replicas.length; i++) await poll(i, TARGETS[1 + random.below(3)]);
      }
      // 31 s after the last change all agree.
      for (const target of TARGETS) {
        const replies = [];
        for (const replica of replicas) replies.push(await replica.get(target));
        for (const reply of replies) assert.deepEqual(reply, replies[0]);
        assert.match(replies[0].body, /10\.0\.0\.128/);
      }
    });
  }
});

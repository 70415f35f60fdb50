/** What is taken out of block feeds, over random rules against a plain model: a flag for each address of a small space. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addressSet } from '@weir/network/address-set.ts';
import { coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { renderCidrs } from '@weir/network/render.ts';
import { type AccessAction, LEVELS, type Level } from '../../../src/rule.ts';
import { ManualClock, MemoryStore, Replica } from '../../support/feed-world.ts';
import { seededRandom } from '../../support/random.ts';
import { flags, GEO_NAMES, geoOf, networkAt, type Place, randomNetwork, randomSpans, type Span } from '../../support/small-space.ts';

interface Rule {
  readonly list: string;
  readonly action: AccessAction;
  readonly spans: readonly Span[];
  /** Whole seconds, 0 = none. */
  readonly expires: number;
  readonly level: Level | undefined;
}

/** The networks of a set of addresses, one a line. */
function linesOf(set: Uint8Array): string {
  const hosts = Array.from(set.keys()).filter((at) => set[at] === 1);
  const { v4, v6 } = addressSet(hosts.map((at) => networkAt(at, 0)));
  return new TextDecoder().decode(renderCidrs(coalesceV4(v4), coalesceV6(v6), { separator: '\n', tail: '\n' })).replace(/^\n$/, '');
}

describe('D7 what is taken out of block feeds', () => {
  test('D7.4, D7.6, D7.7 property: feeds equal the model, over rules of every kind, geo data, protection, subtraction and expiry', async () => {
    const random = seededRandom(12);
    for (let round = 0; round < 30; round++) {
      const clock = new ManualClock();
      const store = new MemoryStore(clock);
      const lists = ['a', 'b'].map((name) => store.addList(name, { subtractAllow: random.pick(['on', 'workspace', 'off', null]) }));
      const geo = new Map(GEO_NAMES.map((name) => [name as string, randomSpans(random)]));
      const [ofService, ofWorkspace] = [0, 1].map(() => Array.from({ length: random.below(3) }, () => randomNetwork(random))) as [
        Place[],
        Place[],
      ];
      const words = (places: Place[]) => places.map(({ text }) => text);
      const subtracts = random.pick(['on', 'off'] as const);
      store.setWorkspace({ protect: words(ofWorkspace), subtractAllow: subtracts });
      const composed = random.pick([[lists[0]!], lists, null]);
      const ofComposed = random.pick(['on', 'workspace', 'off'] as const);
      /** Every feed: its path, its lists (null: all), what is cut out of it. */
      const feeds = [
        { path: '', lists: null, setting: subtracts },
        ...lists.map((id) => ({ path: `/${id}`, lists: [id], setting: store.list(id).subtractAllow ?? 'off' })),
        { path: `/${store.addFeed('c', composed, { subtractAllow: ofComposed })}`, lists: composed, setting: ofComposed },
      ];
      const replica = new Replica(clock, store, {
        geo: () => geoOf(geo),
        guardRails: { protect: words(ofService) },
        rebuildSeconds: 3600,
      });

      const rules: Rule[] = Array.from({ length: random.below(25) }, () => {
        const list = random.pick(lists);
        const action = random.pick(['block', 'block', 'allow'] as const);
        const name = random.pick(GEO_NAMES);
        const { text, spans } = random.below(4) === 0 ? { text: name, spans: geo.get(name)! } : randomNetwork(random);
        const ttl = random.pick([undefined, undefined, 10, 20]);
        const level = random.pick([undefined, ...LEVELS]);
        store.add(list, text, { action, ...(ttl !== undefined && { ttl }), ...(level !== undefined && { confidence: level }) });
        return { list, action, spans, expires: ttl === undefined ? 0 : clock.second + ttl, level };
      });
      const guarded = flags([...ofService, ...ofWorkspace].flatMap(({ spans }) => spans));

      /** What a feed blocks, in the classes of these levels: the model. */
      type Feed = (typeof feeds)[number];
      const expected = (feed: Feed, asOf: number, action: AccessAction, levels: readonly (Level | undefined)[]): Uint8Array => {
        const active = rules.filter(({ expires }) => expires === 0 || expires > asOf);
        const own = active.filter((rule) => feed.lists?.includes(rule.list) ?? true);
        const wanted = flags(own.filter((rule) => rule.action === action && levels.includes(rule.level)).flatMap(({ spans }) => spans));
        if (action === 'allow') return wanted;
        const from = { on: own, workspace: active, off: [] }[feed.setting];
        const taken = flags(from.filter((rule) => rule.action === 'allow').flatMap(({ spans }) => spans));
        return wanted.map((has, at) => (has === 1 && guarded[at] === 0 && taken[at] === 0 ? 1 : 0));
      };

      // Nothing is written meanwhile: what expires leaves by itself, and what an exception held back comes.
      for (const wait of [0, 11_000, 10_000]) {
        await clock.advance(wait);
        for (const feed of feeds) {
          const { path } = feed;
          const what = `round ${round}, feed ${path}, after ${wait} ms`;
          for (const action of ['block', 'allow'] as const) {
            const plain = await replica.get(`${path}?action=${action}`);
            assert.equal(plain.body, linesOf(expected(feed, clock.second, action, [undefined, ...LEVELS])), `${what}, ${action}`);
          }
          const csv = await replica.get(`${path}?format=csv_indicator&action=block`);
          for (const level of LEVELS) {
            const classes = level === 'high' ? [undefined, level] : [level];
            const rows = csv.body.split('\n').filter((row) => row.endsWith(`,${level},high`));
            const networks = linesOf(expected(feed, clock.second, 'block', classes))
              .split('\n')
              .filter(Boolean);
            assert.deepEqual(
              rows.map((row) => row.split(/[-,]/)[0]),
              networks.map((line) => line.split('/')[0]),
              `${what}, ${level}`,
            );
          }
        }
      }
    }
  });

  test('D7.4, D7.6 count, cap and classes are those of what is left', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    const list = store.addList('edge', { maxEntries: 3 });
    const replica = new Replica(clock, store, { rebuildSeconds: 0 });
    store.add(list, '10.0.0.0/24');
    store.add(list, '10.0.0.5', { action: 'allow' });
    const before = await replica.get('/edge');
    assert.deepEqual([before.body, before.headers['x-feed-entry-count']], ['10.0.0.0/24\n', '1']);

    store.setList(list, { subtractAllow: 'on' });
    await clock.advance(4000);
    const over = await replica.get('/edge');
    assert.equal(over.status, 413);
    assert.deepEqual([over.headers['X-Feed-Entry-Count'], over.headers['X-Feed-Entry-Limit']], ['8', '3']);
    assert.match(JSON.stringify(over.fault), /cutting out never-block rules costs 7 entries/);
    assert.equal((await replica.get('/edge?action=allow')).body, '10.0.0.5/32\n');

    // Without the half that the exception is in, there is nothing to cut.
    store.setWorkspace({ protect: ['10.0.0.0/25'] });
    await clock.advance(4000);
    assert.equal((await replica.get('/edge')).body, '10.0.0.128/25\n');
  });

  test('D7.8 a never-block rule that expires or is renewed decides until when a feed is right; also one of another list', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    const [edge, other] = [store.addList('edge', { subtractAllow: 'workspace' }), store.addList('other')];
    const replica = new Replica(clock, store, { rebuildSeconds: 3600 });
    store.add(edge, '10.0.0.0/31');
    const exception = store.add(other, '10.0.0.0', { action: 'allow', ttl: 10 });
    const body = async () => (await replica.get('/edge')).body;
    assert.equal(await body(), '10.0.0.1/32\n');
    store.renew(exception, 20);
    await clock.advance(10_000);
    assert.equal(await body(), '10.0.0.1/32\n');
    await clock.advance(10_000);
    assert.equal(await body(), '10.0.0.0/31\n');
    assert.equal(store.calls.snapshot, 1);
  });

  test('D7.8 where never-block rules of all lists are cut out, a change of another list is another content; of the other ways it is none', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    const [edge, other] = [store.addList('edge', { subtractAllow: 'on' }), store.addList('other')];
    const replica = new Replica(clock, store, { rebuildSeconds: 10 });
    store.add(edge, '10.0.0.0/31');
    const body = async () => {
      await clock.advance(11_000);
      return (await replica.get('/edge')).body;
    };
    assert.equal(await body(), '10.0.0.0/31\n');
    store.add(other, '10.0.0.0', { action: 'allow' });
    assert.equal(await body(), '10.0.0.0/31\n');
    assert.equal(store.calls.snapshot, 1);
    store.setList(edge, { subtractAllow: 'workspace' });
    assert.equal(await body(), '10.0.0.1/32\n');
    store.add(other, '10.0.0.1', { action: 'allow' });
    assert.equal(await body(), '');
    assert.equal(store.calls.snapshot, 3);
    store.setList(edge, { subtractAllow: 'off' });
    assert.equal(await body(), '10.0.0.0/31\n');
    // A validator of before does not survive a change of the guard rails.
    const { headers } = await replica.get('/edge');
    store.setWorkspace({ protect: ['10.0.0.1'] });
    await clock.advance(11_000);
    const changed = await replica.get('/edge', { 'if-none-match': headers.etag! });
    assert.deepEqual([changed.status, changed.body], [200, '10.0.0.0/32\n']);
  });

  test('D7.5 while the store does not answer, the guard rails that were read last hold', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    const list = store.addList('edge');
    const replica = new Replica(clock, store);
    store.add(list, '10.0.0.0/31');
    store.add(list, '10.0.0.4', { ttl: 40 });
    store.setWorkspace({ protect: ['10.0.0.1'] });
    assert.equal((await replica.get('/edge')).body, '10.0.0.0/32\n10.0.0.4/32\n');
    store.down = true;
    await clock.advance(41_000);
    const stale = await replica.get('/edge');
    assert.deepEqual([stale.body, stale.headers['x-feed-stale-since'] === undefined], ['10.0.0.0/32\n', false]);
  });
});

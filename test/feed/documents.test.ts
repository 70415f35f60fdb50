/** Rules and the agent's configuration over time: they expire, outlive the store and are renewed as feeds are. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { lastModified, ManualClock, MemoryStore, Replica, START } from '../support/feed-world.ts';

const RULES = '/v1/rules/waf';
const DOCUMENTS = [RULES, '/config'];

function world() {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const list = store.addList('default');
  return { clock, store, list, replica: new Replica(clock, store) };
}

/** The names of the WAF rules in either document. */
function refs(body: string): string[] {
  const { rules, config } = JSON.parse(body);
  return (rules ?? config.waf_rules.rules).map((rule: { rule_ref?: string; id: string }) => rule.rule_ref ?? rule.id.split('@')[0]);
}

describe('D13 documents over time', () => {
  test('D13.5 an expired rule is out at its second, although the snapshot stands; a renewed one stays', async () => {
    for (const path of DOCUMENTS) {
      const { clock, store, replica } = world();
      store.setWafRule('short', { ttl: 5 });
      store.setWafRule('renewed', { ttl: 5 });
      store.setWafRule('lasting');
      assert.deepEqual(refs((await replica.getDocument(path)).body).sort(), ['lasting', 'renewed', 'short']);
      store.setWafRule('renewed', { ttl: 50 });
      await clock.advance(4_999);
      assert.equal(refs((await replica.getDocument(path)).body).length, 3);
      await clock.advance(1);
      const after = await replica.getDocument(path);
      assert.deepEqual(refs(after.body).sort(), ['lasting', 'renewed'], path);
      assert.equal(store.calls.snapshot, 1);
      assert.equal(store.calls.rulesById, 1);
    }
  });

  test('D13.5 an access rule leaves the configuration at its second', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1', { ttl: 5 });
    store.add(list, '192.0.2.9');
    const ips = async () => JSON.parse((await replica.getDocument('/config')).body).config.access_rules.block.ips;
    assert.deepEqual(await ips(), ['192.0.2.1/32', '192.0.2.9/32']);
    await clock.advance(5_000);
    assert.deepEqual(await ips(), ['192.0.2.9/32']);
  });

  test('D13.5 while the store is away the last good document is served, marked as stale, without what expires meanwhile', async () => {
    for (const path of DOCUMENTS) {
      const { clock, store, replica } = world();
      store.setWafRule('short', { ttl: 45 });
      store.setWafRule('lasting');
      const before = await replica.getDocument(path);
      store.down = true;
      await clock.advance(31_000);
      const stale = await replica.getDocument(path);
      assert.deepEqual([stale.status, stale.body], [200, before.body]);
      assert.equal(stale.headers['x-feed-stale-since'], new Date(START).toUTCString());
      await clock.advance(14_000);
      assert.deepEqual(refs((await replica.getDocument(path)).body), ['lasting']);
      await clock.advance(25 * 3_600_000);
      assert.equal((await replica.getDocument(path)).status, 500);
    }
    const { store, replica } = world();
    store.down = true;
    for (const path of DOCUMENTS) assert.equal((await replica.getDocument(path)).status, 500);
  });

  test('D13.4 a document changes with what it is made from, and with nothing else', async () => {
    const { clock, store, list, replica } = world();
    store.setWafRule('a');
    const [rules, config] = [await replica.getDocument(RULES), await replica.getDocument('/config')];
    const { snapshot } = store.calls;
    store.add(list, '192.0.2.1');
    await clock.advance(31_000);
    assert.equal((await replica.getDocument(RULES, { 'if-none-match': rules.headers.etag })).status, 304);
    assert.equal(store.calls.snapshot, snapshot);
    const blocked = await replica.getDocument('/config', { 'if-none-match': config.headers.etag });
    assert.equal(blocked.status, 200);
    assert.ok(lastModified(blocked) > lastModified(config));
    store.setWafRule('b');
    await clock.advance(31_000);
    assert.deepEqual(refs((await replica.getDocument(RULES, { 'if-none-match': rules.headers.etag })).body), ['a', 'b']);
    assert.deepEqual(refs((await replica.getDocument('/config')).body), ['a', 'b']);
  });

  test('D13.4 Last-Modified is remembered for whole documents; of filtered ones only the tag proves anything, and few are kept', async () => {
    const { store, replica } = world();
    store.setWafRule('a', { labels: { team: 'red' } });
    const whole = await replica.getDocument(RULES);
    const since = { 'if-modified-since': whole.headers['last-modified'] };
    assert.equal((await replica.getDocument(RULES, since)).status, 304);
    const filtered = await replica.getDocument(`${RULES}?label=team:red`);
    assert.deepEqual(refs(filtered.body), ['a']);
    assert.notEqual(filtered.headers.etag, whole.headers.etag);
    assert.equal((await replica.getDocument(`${RULES}?label=team:red`, since)).status, 200);
    assert.equal((await replica.getDocument(`${RULES}?label=team:red`, { 'if-none-match': filtered.headers.etag })).status, 304);
    for (let n = 0; n < 200; n++) assert.deepEqual(refs((await replica.getDocument(`${RULES}?label=team:${n}`)).body), []);
    assert.deepEqual(refs((await replica.getDocument(`${RULES}?label=team:red`)).body), ['a']);
    assert.equal(store.records.size, 1);
    assert.equal(store.calls.snapshot, 1);
  });

  test('D13.4 the same bytes and tags on every replica and after a restart; gzip is a representation of its own', async () => {
    for (const path of DOCUMENTS) {
      const { clock, store, list, replica } = world();
      store.add(list, 'NL');
      store.setWafRule('a', { config: { note: 'ü' } });
      const first = await replica.getDocument(path);
      await clock.advance(5_000);
      const second = await new Replica(clock, store).getDocument(path);
      assert.deepEqual([second.body, second.headers], [first.body, first.headers]);
      const zipped = await replica.getDocument(path, { 'accept-encoding': 'gzip' });
      assert.equal(gunzipSync(zipped.bytes).toString(), first.body);
      assert.notEqual(zipped.headers.etag, first.headers.etag);
    }
  });

  test('D13.3 131,072 rules of a kind are served, one more is 413; so are as many direct networks of an agent', async () => {
    const LIMIT = 131_072;
    for (const more of [0, 1]) {
      const { store, replica } = world();
      store.setWafRule('a');
      const { snapshot } = store;
      store.snapshot = async (...args) => {
        const [, , , sink, whole] = args;
        const take = (rule: Parameters<NonNullable<typeof whole>['take']>[0]) => {
          for (let n = 0; n < LIMIT + more; n++) whole?.take(rule);
        };
        for (let n = 0; n < LIMIT + more; n++) sink?.v4(n, 'block', 2 * n, 32, 0, 0);
        return snapshot.call(store, args[0], args[1], args[2], sink, whole && { kinds: sink === undefined ? whole.kinds : [], take });
      };
      const page = await replica.getDocument(`${RULES}?limit=1`);
      const config = await replica.getDocument('/config');
      const statuses = [page.status, config.status];
      assert.deepEqual(statuses, more === 0 ? [200, 200] : [413, 413]);
      if (more === 0) continue;
      for (const { fault } of [page, config]) {
        assert.equal(fault?.message, 'The document exceeds the maximum number of entries');
        assert.deepEqual({ ...fault.details, hint: '' }, { entries: LIMIT + 1, limit: LIMIT, hint: '' });
        assert.equal(fault.headers?.['X-Feed-Entry-Count'], String(LIMIT + 1));
      }
    }
  });
});

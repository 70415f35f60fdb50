/** Explain against what feeds publish: random rules in the embedded store, feeds of the real builder, addresses as flags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { blockGuards, NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { instantOf } from '../../src/clock.ts';
import { decisionBuilder } from '../../src/decisions/build/decision-builder.ts';
import { documentBuilder } from '../../src/feed/build/document-builder.ts';
import { DEFAULT_VARIANT, storedVariant, variantOf } from '../../src/feed/variant.ts';
import { explain } from '../../src/feed/whatif/explain/explain.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import { ACCESS_ACTIONS, type AccessRule, type Target } from '../../src/rule.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ManualClock } from '../support/feed-world.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { flags, GEO_NAMES, geoOf, HALF, networkAt, randomNetwork, randomSpans, SPACE, type Span, spanOf } from '../support/small-space.ts';

const ROUNDS = 10;
/** Addresses that are asked for in each round, half of them before rules expire. */
const ADDRESSES = 1000;

const geoTarget = (name: string): Target =>
  name.startsWith('AS') ? { kind: 'asn', asn: Number(name.slice(2)) } : { kind: 'country', country: name };
const ipTarget = (text: string): Target => ({ kind: 'ip', network: parseNetwork(text) as Network });

test('D10.1, D10.4, D55.4, D55.5 property: explain agrees with the bytes of every feed: rules of every kind, subtraction, protection, expiry', async (t) => {
  const random = seededRandom(10);
  let asked = 0;
  const met = { in: 0, partly: 0, out: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const { store, clock, workspace, geo, spans, options } = await world(random);
    const builder = documentBuilder({
      ...options,
      versioned: decisionBuilder({ store, recordLog: store.recordLog, clock }).contents,
      geo: () => geo,
      phaseOf: () => 'request',
      clock,
    });
    const sources = [null, ...(await store.directory(workspace.id))!.lists, ...(await store.feeds(workspace.id))];
    for (const sequence of [1, 2]) {
      for (const action of ACCESS_ACTIONS) {
        const published = new Map<string | null, Uint8Array>();
        for (const source of sources) {
          const variant = variantOf({ action, format: 'plain' }, source === null ? DEFAULT_VARIANT : storedVariant(source));
          const feedId = source?.id ?? null;
          const request = { workspaceId: workspace.id, feedId, variant, sequence, offline: false, before: undefined };
          const built = await builder.build(request);
          assert.equal(built.kind, 'document');
          const lines = built.kind === 'document' ? new TextDecoder().decode(built.bytes).split('\n').filter(Boolean) : [];
          published.set(feedId, flags(lines.map((line) => spanOf(parseNetwork(line) as Network))));
        }
        const check = async (target: Target, of: readonly Span[]) => {
          const { feeds } = await explain(
            { workspace, target, action, counts: false },
            { store, geo, guard: options.guard, now: instantOf(clock) },
          );
          for (const { source, explanation } of feeds) {
            const set = published.get(source.id)!;
            const bits = source.profile.family === null ? [0, SPACE] : source.profile.family === 'v4' ? [0, HALF] : [HALF, SPACE];
            const addresses = of.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
            const shown = addresses.filter((at) => at >= bits[0] && at < bits[1]);
            const inside = shown.filter((at) => set[at] === 1).length;
            const expected = inside === 0 ? 'out' : inside === shown.length ? 'in' : 'partly';
            met[expected] += 1;
            const what = `round ${round}, ${action}, ${JSON.stringify(target)}, feed ${source.profile.name}`;
            assert.equal(explanation.verdict, expected, what);
            // Who is in has a rule that says so; who is not, and has one, has another or a protected network that says so.
            if (expected !== 'out')
              assert.ok(
                explanation.rules.some(({ effect }) => effect === 'in'),
                what,
              );
            if (expected !== 'in' && explanation.rules.some(({ effect, relation }) => effect === 'in' && relation === 'exact')) {
              const keeps = explanation.rules.some(({ effect }) => effect === 'out') || explanation.protectedBy.length > 0;
              assert.ok(keeps, what);
            }
          }
        };
        for (let n = 0; n < ADDRESSES / 4; n++) {
          // An IPv6 address lies in four times as many networks, which the store looks up one by one.
          const at = random.below(n % 16 === 0 ? SPACE : HALF);
          await check({ kind: 'ip', network: networkAt(at, 0) }, [[at, at]]);
          asked += 1;
        }
        for (let n = 0; n < 20; n++) {
          const { text, spans: own } = randomNetwork(random);
          await check(ipTarget(text), own);
        }
        for (const name of GEO_NAMES) await check(geoTarget(name), spans.get(name)!);
      }
      await clock.advance(15_000);
    }
    await store.close();
  }
  assert.ok(asked >= 10_000 && Math.min(met.in, met.partly, met.out) > 100, JSON.stringify({ asked, ...met }));

  /** A workspace with three lists, two composed feeds, guard rails and rules, all at random. */
  async function world(from: Random) {
    const clock = new ManualClock();
    const store = await openSqliteStore(temporaryFolder(t), () => clock.now());
    const spans = new Map(GEO_NAMES.map((name) => [name as string, randomSpans(from)]));
    const { id } = await store.createWorkspace((await store.createOrganization('o', 'active')).id, 'w');
    const protect = () => Array.from({ length: from.below(3) }, () => randomNetwork(from).text);
    await store.updateWorkspace(id, { protect: protect(), subtractAllow: from.pick(['on', 'off'] as const) });
    const settings = () => ({
      ...NO_SETTINGS,
      family: from.pick([null, null, 'v4', 'v6']),
      subtractAllow: from.pick(['on', 'workspace', 'off', null] as const),
      widenV4: from.pick([null, null, 24]),
      widenV6: from.pick([null, null, 118]),
    });
    const lists: string[] = [];
    for (const name of ['a', 'b', 'c']) lists.push((await store.createList(id, name, settings())).id);
    for (const [name, of] of [
      ['two', lists.slice(0, 2)],
      ['all', null],
    ] as const) {
      await store.createFeed(id, { ...settings(), name, description: null, lists: of });
    }
    const items = Array.from({ length: 30 }, (_, offset): LandingItem => {
      const target = from.below(4) === 0 ? geoTarget(from.pick(GEO_NAMES)) : ipTarget(randomNetwork(from).text);
      const ttl = from.pick([null, null, 10, 20]);
      const rule: AccessRule = {
        action: from.pick(['block', 'block', 'allow'] as const),
        target,
        ruleRef: from.pick([null, null, `ref ${offset}`]),
        expiresAt: ttl === null ? null : clock.now() + ttl * 1000,
        ...{ name: null, reason: null, labels: null, config: null, confidence: null, severity: null },
      };
      const record = { offset, timestamp: clock.now(), key: id, headers: {}, value: '{}' };
      const change = { change: 'upsert', kind: 'access_rule', rule } as const;
      return { record, workspaceId: id, listId: from.pick(lists), receivedAt: clock.now(), batchId: null, keyId: null, change };
    });
    await store.apply({ streamId: 's', partition: 0, from: null, to: items.length, items, poison: [], now: clock.now() });
    const [workspace] = (await store.workspaces()).filter((each) => each.id === id);
    const guard = blockGuards({ ...NO_GUARD_RAILS, protect: protect(), minPrefixV6: from.pick([0, 119]), self: [] });
    return { store, clock, workspace, spans, geo: geoOf(spans), options: { store, guard } };
  }
});

test('D45.10 a country and an ASN are explained however many rules there are elsewhere; too many in them are told in a sentence', async (t) => {
  const clock = new ManualClock();
  const store = await openSqliteStore(temporaryFolder(t), () => clock.now());
  const { id } = await store.createWorkspace((await store.createOrganization('o', 'active')).id, 'w');
  const given = { name: null, reason: null, labels: null, config: null, confidence: null, severity: null };
  const items = Array.from({ length: 200 }, (_, offset): LandingItem => {
    const target: Target = { kind: 'ip', network: networkAt(offset, 0) };
    const rule: AccessRule = { action: 'block', target, ruleRef: null, expiresAt: null, ...given };
    const record = { offset, timestamp: clock.now(), key: id, headers: {}, value: '{}' };
    const change = { change: 'upsert', kind: 'access_rule', rule } as const;
    return { record, workspaceId: id, listId: null, receivedAt: clock.now(), batchId: null, keyId: null, change };
  });
  await store.apply({ streamId: 's', partition: 0, from: null, to: items.length, items, poison: [], now: clock.now() });
  const [workspace] = await store.workspaces();
  const [few, many] = GEO_NAMES;
  const geo = geoOf(
    new Map<string, Span[]>([
      [few, [[0, 9]]],
      [many, [[0, 149]]],
    ]),
  );
  const options = { store, geo, guard: blockGuards({ ...NO_GUARD_RAILS, self: [] }), now: instantOf(clock), mostRules: 100 };
  const of = (name: string) => explain({ workspace: workspace!, target: geoTarget(name), action: 'block', counts: false }, options);
  const { feeds } = await of(few);
  assert.deepEqual(
    feeds.map(({ explanation: { verdict, rules } }) => [verdict, rules.length]),
    [
      ['in', 10],
      ['in', 10],
    ],
  );
  await assert.rejects(
    of(many),
    new RegExp(`^WeirError: more than 100 rules have addresses of ${many}; ask about an address or a smaller network$`),
  );
  await store.close();
});

test('D55.4, D55.5 the look-up finds the host whose network has the target, however many hosts of the list are in other networks nearby', async (t) => {
  const clock = new ManualClock();
  const store = await openSqliteStore(temporaryFolder(t), () => clock.now());
  const { id } = await store.createWorkspace((await store.createOrganization('o', 'active')).id, 'w');
  await store.createList(id, 'wide', { ...NO_SETTINGS, widenV6: 48 });
  const { id: listId } = await store.createList(id, 'narrow', { ...NO_SETTINGS, widenV6: 64 });
  const given = { name: null, reason: null, labels: null, config: null, confidence: null, severity: null };
  const texts = [...Array.from({ length: 101 }, (_, n) => `2001:db8::${n.toString(16)}`), '2001:db8:0:ffff::2'];
  const items = texts.map((text, offset): LandingItem => {
    const rule: AccessRule = { action: 'block', target: ipTarget(text), ruleRef: null, expiresAt: null, ...given };
    const record = { offset, timestamp: clock.now(), key: id, headers: {}, value: '{}' };
    const change = { change: 'upsert', kind: 'access_rule', rule } as const;
    return { record, workspaceId: id, listId, receivedAt: clock.now(), batchId: null, keyId: null, change };
  });
  await store.apply({ streamId: 's', partition: 0, from: null, to: items.length, items, poison: [], now: clock.now() });
  const [workspace] = await store.workspaces();
  const options = { store, geo: geoOf(new Map()), guard: blockGuards({ ...NO_GUARD_RAILS, self: [] }), now: instantOf(clock) };
  const target = ipTarget('2001:db8:0:ffff::1');
  const { feeds } = await explain({ workspace: workspace!, target, action: 'block', counts: false }, options);
  const verdicts = feeds.map(({ source, explanation }) => [source.profile.name, explanation.verdict]);
  assert.deepEqual(verdicts.slice(-2), [
    ['wide', 'out'],
    ['narrow', 'in'],
  ]);
  const narrow = { ...options, guard: blockGuards({ ...NO_GUARD_RAILS, minPrefixV6: 65, self: [] }) };
  const asSent = await explain({ workspace: workspace!, target: ipTarget(texts.at(-1)!), action: 'block', counts: false }, narrow);
  const { rules, verdict } = asSent.feeds.at(-1)!.explanation;
  assert.deepEqual([verdict, rules.map(({ notWidened }) => notWidened)], ['in', [['wider than /65']]]);
  await store.close();
});

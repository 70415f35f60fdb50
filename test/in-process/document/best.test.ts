/** Feeds of the best entries within their cap (SPEC D57), against sorted plain sets and a client that applies full sets and changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNetwork } from '@weir/network/format.ts';
import { blockGuards, NO_GUARD_RAILS } from '../../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../../src/account/list.ts';
import { CoverageCache } from '../../../src/decisions/build/coverage-cache.ts';
import { decisionContent } from '../../../src/decisions/build/decision-content.ts';
import { DecisionLog } from '../../../src/decisions/build/decision-log.ts';
import { networkOf } from '../../../src/decisions/build/network-key.ts';
import { StableNumbers } from '../../../src/decisions/build/numbered-lists.ts';
import { decisionKeyAt } from '../../../src/decisions/build/published-networks.ts';
import { contentOfFeed, renderFeed } from '../../../src/feed/build/render-feed.ts';
import { FeedRanges } from '../../../src/feed/index/feed-ranges.ts';
import { RuleColumns, type Snapshot } from '../../../src/feed/index/snapshot.ts';
import { levelCode } from '../../../src/feed/levels.ts';
import { trimmedHeader, trimmedText } from '../../../src/feed/trim.ts';
import type { Variant } from '../../../src/feed/variant.ts';
import type { GeoDatabase } from '../../../src/ports/geo.ts';
import type { SnapshotHead } from '../../../src/ports/snapshot.ts';
import { LEVELS } from '../../../src/rule.ts';
import { seededRandom } from '../../support/random.ts';

const SEQUENCES = Number(process.env.TEST_BEST_SEQUENCES ?? 1000);
const SEED = Number(process.env.TEST_BEST_SEED ?? 57);
const CAP = 12;
const FIRST = 0x0a00_0000;
const PLAIN: Variant = { document: 'feed', format: 'plain', family: 'both', action: 'block' };
const GEO: GeoDatabase = { version: '1', ranges: () => ({ v4: new Uint32Array(), v6: new Uint32Array() }), hasAsn: () => true };

interface Rule {
  readonly id: number;
  readonly list: number;
  readonly address: number;
  readonly prefix: number;
  /** 1 to 4. */
  readonly confidence: number;
  readonly never?: boolean;
}

/** List 0 has own detections; list 1 has a source. */
function snapshotOf(rules: readonly Rule[], settings: Partial<SnapshotHead['profile']>, ranges = new FeedRanges()): Snapshot {
  const lists = ['own', 'other'].map((name) => ({ id: name, name, key: name, levels: 0 }));
  const quorum = { minSources: 1, fit: 'best' as const, fits: new Map(), always: [false, false], own: [true, false], copies: [[], []] };
  const profile = { name: 'f', ...NO_SETTINGS, maxEntries: CAP, subtractAllow: 'on' as const, ...settings };
  const revisions = { revision: 1, expressionRevision: 1, workspaceCreatedAt: 0, change: 1, readAt: 0 };
  const parts = [0, 1, 2].map((list) => {
    const columns = new RuleColumns();
    for (const { id, address, prefix, confidence, never } of rules.filter((each) => each.list === list))
      columns.v4(id, never ? 'allow' : 'block', address, prefix, 0, levelCode(LEVELS[confidence - 1]!, null));
    return { key: `${list}`, levels: 0, rules: columns.rules(1) };
  });
  const head = { kind: 'composed' as const, profile, guardRails: NO_GUARD_RAILS, lists, quorum, ...revisions };
  return { head, parts, at: { sequence: 1, wall: 1000, monotonic: 0 } as Snapshot['at'], stored: new Map(), ranges };
}

const textsOf = ({ v4 }: { readonly v4: { length: number; addresses: Uint32Array; prefixes: Uint8Array } }) =>
  Array.from({ length: v4.length }, (_, i) => formatNetwork({ family: 4, address: v4.addresses[i]!, prefix: v4.prefixes[i]! }));
const entriesOf = (snapshot: Snapshot, variant = PLAIN) => contentOfFeed(snapshot, variant, 1, GEO, undefined);
const hostText = ({ address }: Pick<Rule, 'address'>) => formatNetwork({ family: 4, address, prefix: 32 });

/** Best first: by confidence, own detections, the newest. */
const byRank = (a: Rule, b: Rule) => b.confidence - a.confidence || a.list - b.list || b.id - a.id;

test(`D57.1 D57.2 D57.4 in ${SEQUENCES} sequences of growth a client never has more than the cap, the best rules are in, and entries differ by at most twice the change`, () => {
  const random = seededRandom(SEED);
  for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
    // Sparse hosts, or networks that merge, nest and are split by never-block rules.
    const isSparse = sequence % 2 === 0;
    const settings = { singleAddresses: sequence % 4 === 3 ? 4 : null };
    const [log, coverage, numbers] = [new DecisionLog('one'), new CoverageCache(), new StableNumbers()];
    const client = new Set<string>();
    const ranges = new FeedRanges();
    let [mark, rules, nextId]: [DecisionLog['mark'] | null, Rule[], number] = [null, [], 1];
    let [served, all] = [new Set<string>(), new Set<string>()];
    for (let step = 0; step < 8; step += 1) {
      const isGrowing = random.below(4) > 0;
      if (isGrowing)
        for (let i = random.below(10); i >= 0; i -= 1) {
          const address = FIRST + (isSparse ? 3 * nextId : random.below(64));
          const prefix = isSparse ? 32 : random.pick([32, 32, 32, 31, 30, 28]);
          const [list, confidence] = [random.below(2), 1 + random.below(4)];
          const never = !isSparse && random.below(8) === 0;
          rules.push({ id: nextId, list, address: (address & -(2 ** (32 - prefix))) >>> 0, prefix, confidence, never });
          nextId += 1;
        }
      else rules = rules.filter(() => random.below(3) > 0);
      const snapshot = snapshotOf(rules, settings, ranges);
      const entries = textsOf(
        entriesOf(snapshot).content.classes[0] ?? { v4: { length: 0, addresses: new Uint32Array(), prefixes: new Uint8Array() } },
      );
      const whole = textsOf(
        entriesOf(snapshotOf(rules, { maxEntries: 1000 })).content.classes[0] ?? {
          v4: { length: 0, addresses: new Uint32Array(), prefixes: new Uint8Array() },
        },
      );
      assert.equal(entries.length, Math.min(CAP, whole.length));
      assert.ok(entries.every((each) => whole.includes(each)));
      if (isSparse) assert.deepEqual(new Set(entries), new Set([...rules].sort(byRank).slice(0, CAP).map(hostText)));
      const [before, after] = [served, new Set(entries)];
      if (isSparse) {
        const changed = all.symmetricDifference(new Set(whole)).size;
        assert.ok(before.symmetricDifference(after).size <= 2 * changed, `sequence ${sequence}, step ${step}`);
      }
      [served, all] = [after, new Set(whole)];

      const { singleAddresses } = settings;
      const parts = { asOf: 1, geo: GEO, guarded: undefined, entryLimit: CAP, singleAddresses, coverage };
      const content = decisionContent(snapshot, { ...parts, numbered: () => numbers.of(snapshot.head) });
      assert.ok('published' in content);
      log.take(content.published, 1000 * (step + 2));
      // A client polls seldom, and sometimes begins again.
      if (random.below(3) === 0) continue;
      if (random.below(6) === 0) [mark] = [null, client.clear()];
      const changes = log.since(mark);
      for (const key of changes.deleted) client.delete(formatNetwork(networkOf(key)));
      for (const at of changes.changed) {
        client.add(formatNetwork(networkOf(decisionKeyAt(log.networks, at))));
        assert.ok(client.size <= CAP, `sequence ${sequence}, step ${step}: ${client.size}`);
      }
      if (singleAddresses === null) assert.deepEqual(client, after);
      mark = log.mark;
    }
  }
});

const HOSTS = Array.from({ length: 40 }, (_, i): Rule => ({ id: i + 1, list: i % 2, address: FIRST + 2 * i, prefix: 32, confidence: 3 }));

test('D57.3 D57.6 the parts left out are in the header, the seventh line and the facts; a feed that fits is whole', () => {
  const { facts } = entriesOf(snapshotOf(HOSTS, {}));
  assert.deepEqual(facts.trimmed, { leftOut: { fit: 'best', entries: 28 }, next: 'the entries of the lowest rank' });
  assert.equal(trimmedHeader(facts.trimmed!.leftOut!), 'lowest_rank;entries=28');
  assert.equal(trimmedText(facts.trimmed!.leftOut!), 'the 28 entries of the lowest rank');
  const rendered = renderFeed(
    snapshotOf(HOSTS, {}),
    { ...PLAIN, format: 'commented' },
    1,
    GEO,
    blockGuards({ ...NO_GUARD_RAILS, self: [] })(NO_GUARD_RAILS),
  );
  assert.match(
    Buffer.from((rendered as { text: { bytes: Uint8Array } }).text.bytes).toString(),
    /\n# entries: 12\n# left out: the 28 entries of the lowest rank\n/,
  );
  assert.equal(entriesOf(snapshotOf(HOSTS, { maxEntries: 40 })).facts.trimmed!.leftOut, undefined);
  // Another process may have read the rules in another order.
  assert.deepEqual(entriesOf(snapshotOf(HOSTS.toReversed(), {})).content, entriesOf(snapshotOf(HOSTS, {})).content);
  // 64 hosts that merge into one network count as one.
  const merged = Array.from({ length: 64 }, (_, i): Rule => ({ id: i + 1, list: 0, address: FIRST + i, prefix: 32, confidence: 1 }));
  assert.deepEqual(textsOf(entriesOf(snapshotOf(merged, {})).content.classes[0]!), ['10.0.0.0/26']);
});

test('D57.2 single addresses count one by one, and classes of csv_indicator by entry; both families share the cap', () => {
  const wide: Rule = { id: 99, list: 0, address: FIRST + 1024, prefix: 29, confidence: 4 };
  const bare = entriesOf(snapshotOf([...HOSTS, wide], { hostStyle: 'bare' }));
  assert.equal(bare.facts.entryCount, CAP);
  assert.deepEqual(bare.facts.trimmed?.leftOut, { fit: 'best', entries: 36 });
  assert.ok(textsOf(bare.content.classes[0]!).includes('10.0.4.0/29'));
  const rated = entriesOf(snapshotOf([...HOSTS, wide], {}), { ...PLAIN, format: 'csv_indicator' });
  assert.deepEqual([rated.facts.entryCount, rated.content.classes.length], [CAP, 2]);
  const cut = entriesOf(snapshotOf([{ ...wide, prefix: 24 }], { hostStyle: 'bare' }));
  assert.deepEqual(textsOf(cut.content.classes[0]!), ['10.0.4.0/29', '10.0.4.8/30']);
});

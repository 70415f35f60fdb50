import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { parseNetwork } from '@weir/network/parse.ts';
import fc from 'fast-check';
import type { SavedFeed } from '../../src/account/feed.ts';
import { NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import type { SavedKey } from '../../src/account/key.ts';
import { type AccessList, LIST_SETTINGS, NO_SETTINGS, type SavedList, settingsOf } from '../../src/account/list.ts';
import { levelCode } from '../../src/feed/levels.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { RuleSink } from '../../src/ports/snapshot.ts';
import type { Store } from '../../src/ports/store.ts';
import type { RuleMatch, StepPlace } from '../../src/ports/stored/rule-queries.ts';
import type { StepFilter } from '../../src/ports/stored/rule-store.ts';
import type { StoredRule } from '../../src/ports/stored/stored-rule.ts';
import {
  type AccessRule,
  EXPRESSION_KINDS,
  type ExpressionRule,
  KINDS,
  type Kind,
  type RuleChange,
  type RuleOperation,
  type Target,
} from '../../src/rule.ts';
import { LIMITS } from '../../src/signal/limits.ts';
import { decodeSignalRecord } from '../../src/signal/message/decode.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { formatTarget } from '../../src/signal/target.ts';
import { foreignRecord } from '../support/foreign-records.ts';

export interface StoreDriver {
  readonly name: string;
  /** Opens a store of its own that is empty and migrated. */
  open(t: TestContext): Promise<OpenStore>;
}

interface OpenStore {
  readonly store: Store;
  /** Opens a second handle on the same data. */
  readonly again: () => Promise<Store>;
  /** Reads with SQL what no port shows. */
  readonly query: (text: string) => Promise<Record<string, unknown>[]>;
}

export const T0 = 1_800_000_000_000;
const STREAM = '7b0f1d7e-6f0a-4a53-9d0e-000000000001';

/** The rules that steps read, one after the other. */
async function inSteps(store: Store, workspaceId: string, filter: StepFilter): Promise<StoredRule[]> {
  const found: StoredRule[] = [];
  let after: StepPlace | undefined;
  do {
    const { rules, next } = await store.ruleStep(workspaceId, { ...filter, ...(after !== undefined && { after }) });
    assert.ok(rules.length <= filter.limit);
    found.push(...rules);
    after = next ?? undefined;
  } while (after !== undefined);
  return found;
}

export function ip(text: string): Target {
  const network = parseNetwork(text);
  if (typeof network === 'string') throw new Error(network);
  return { kind: 'ip', network };
}

export const access = (target: Target, more: Partial<AccessRule> = {}): AccessRule => ({
  name: null,
  reason: null,
  labels: null,
  config: null,
  expiresAt: null,
  ruleRef: null,
  action: 'block',
  target,
  confidence: null,
  severity: null,
  ...more,
});
export const waf = (ruleRef: string, more: Partial<ExpressionRule> = {}): ExpressionRule => ({
  name: null,
  reason: null,
  labels: null,
  config: null,
  expiresAt: null,
  ruleRef,
  type: 'custom',
  expression: 'http.request.path eq "/"',
  action: 'block',
  order: null,
  shortDescription: null,
  ...more,
});
export const KEY = {
  name: null,
  prefix: 'weir_x',
  permissions: ['signal:write', 'feed:read'],
  listId: null,
  feedId: null,
  networks: [],
  expiresAt: null,
} as const;
/** Each setting with the most that it may be: the last of its words, the largest number, a text of its length. */
const textOf = ({ longest, format }: { longest: number; format?: string }) =>
  format === undefined ? 'ä'.repeat(longest) : 'x16 within 90d up to 365d';
const ALL_SET = settingsOf(
  Object.fromEntries(
    Object.values(LIST_SETTINGS).map((row) => [
      row.field,
      'words' in row ? row.words.at(-1)! : 'numbers' in row ? row.numbers.at(-1)! : 'most' in row ? row.most : textOf(row),
    ]),
  ),
);
const EDGE: Omit<SavedList, 'id'> = { ...ALL_SET, name: 'edge', isDefault: false, subtractAllow: 'workspace' };
const DEVICE: Omit<SavedFeed, 'id'> = {
  ...ALL_SET,
  name: 'device',
  description: 'a device',
  format: 'commented',
  family: 'v6',
  action: 'block',
  maxEntries: 1,
  confidence: 'medium',
  severity: null,
  subtractAllow: 'on',
  singleAddresses: 1,
  target: 'pan-os',
  hostStyle: 'bare',
  origins: 'lists',
  repeat: null,
  lists: [],
  minSources: null,
  fit: 'sources',
  always: [],
};
const savedList = ({ workspaceId: _w, revision: _r, sourceId: _s, ...list }: AccessList): SavedList => list;
export const upsert = (rule: AccessRule): RuleChange => ({ change: 'upsert', kind: 'access_rule', rule });

/** A store with one workspace, and landing that counts its own offsets. */
export async function fixture(t: TestContext, driver: StoreDriver) {
  const { store, again, query } = await driver.open(t);
  const organization = await store.createOrganization('acme', 'active');
  const workspace = await store.createWorkspace(organization.id, 'main');
  let position: number | null = null;
  const land = async (changes: readonly (RuleChange | RuleOperation | Partial<LandingItem>)[], receivedAt = T0) => {
    const first = position ?? 0;
    const items = changes.map((change, i): LandingItem => {
      const given = typeof change.change === 'string' ? { change } : change;
      const record = { offset: first + i, timestamp: receivedAt, key: workspace.id, headers: { workspace_id: workspace.id }, value: '{}' };
      return { record, workspaceId: workspace.id, listId: null, receivedAt, batchId: null, keyId: null, ...given } as LandingItem;
    });
    const to = first + changes.length;
    assert.equal(await store.apply({ streamId: STREAM, partition: 0, from: position, to, items, poison: [], now: receivedAt }), 'landed');
    position = to;
  };
  const rules = async (kind: Kind = 'access_rule', now = T0, listId?: string): Promise<StoredRule[]> =>
    Array.fromAsync(store.rules(workspace.id, { kind, now, ...(listId === undefined ? {} : { listId }) }));
  const targets = async (now = T0) =>
    (await rules('access_rule', now)).map((stored) => ('target' in stored.rule ? formatTarget(stored.rule.target) : '')).sort();
  return { store, again, query, organization, workspace, land, rules, targets };
}

/** Collects a snapshot as plain rows. */
export function collectingSink() {
  const rows: { id: number; role: string; what: string; expires: number; levels: number }[] = [];
  const sink: RuleSink = {
    v4: (id, role, address, prefix, expires, levels) => {
      rows.push({ id, role, what: formatTarget({ kind: 'ip', network: { family: 4, address, prefix } }), expires, levels });
    },
    v6: (id, role, bytes, at, prefix, expires, levels) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at, 16);
      const address = [0, 4, 8, 12].map((i) => view.getUint32(i)) as [number, number, number, number];
      rows.push({ id, role, what: formatTarget({ kind: 'ip', network: { family: 6, address, prefix } }), expires, levels });
    },
    geo: (id, role, target, expires, levels) => {
      rows.push({ id, role, what: formatTarget(target), expires, levels });
    },
  };
  return { rows, sink };
}

/** What every store driver must do (spec 2.6, 3, 5, 6; decisions 2–5). */
export function storeConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`6.2 store ${name}: each kind lands in its own store and reads back as it was`, async (t) => {
    const { land, rules } = await fixture(t, driver);
    const config = JSON.parse('{"__proto__":{"a":1},"sensitivity":"high","n":[1,2.5,null,true]}');
    const rule = access(ip('2001:db8::/32'), {
      ruleRef: 'r:1',
      action: 'allow',
      name: 'näme 𝄞',
      reason: 'because',
      labels: { team: 'soc' },
      config,
      confidence: 'low',
      severity: 'critical',
      expiresAt: T0 + 60_000,
    });
    const body = waf('w:1', {
      order: -5,
      shortDescription: 'short',
      config: { phase: 'request' },
      name: 'n',
      labels: { a: [1] },
      type: 'generated',
    });
    await land([
      upsert(rule),
      { change: 'upsert', kind: 'waf_rule', rule: body },
      {
        change: 'upsert',
        kind: 'smart_firewall_rule',
        rule: waf('w:1', { expression: 'ip.src == 1.1.1.1', action: 'allow', order: Number.MAX_SAFE_INTEGER }),
      },
    ]);
    const [stored] = await rules();
    assert.deepEqual(stored.rule, rule);
    assert.equal(stored.createdAt, T0);
    assert.equal(JSON.stringify(stored.rule.config), JSON.stringify(config));
    assert.deepEqual(
      (await rules('waf_rule')).map((r) => r.rule),
      [body],
    );
    assert.deepEqual(
      (await rules('smart_firewall_rule')).map((r) => ('order' in r.rule ? [r.rule.ruleRef, r.rule.order, r.rule.expression] : [])),
      [['w:1', Number.MAX_SAFE_INTEGER, 'ip.src == 1.1.1.1']],
    );
  });

  for (const kind of EXPRESSION_KINDS) {
    test(`6.2 store ${name}: ${kind} lands, reads back, is counted, deleted and swept`, async (t) => {
      const { store, workspace, land, rules } = await fixture(t, driver);
      const [kept, lapsed] = [waf('kept', { order: 1 }), waf('lapsed', { expiresAt: T0 + 1000 })];
      await land([kept, lapsed, waf('gone')].map((rule) => ({ change: 'upsert', kind, rule })));
      assert.equal(await store.countRules(workspace.id, T0), 3);
      await land([{ change: 'delete', kind, ruleRef: 'gone' }]);
      assert.deepEqual(
        (await rules(kind)).map((stored) => [stored.kind, stored.rule]),
        [
          [kind, kept],
          [kind, lapsed],
        ],
      );
      await store.sweep({ now: T0 + 5000, rulesExpiredBefore: T0 + 5000, auditBefore: 0, limit: 10 });
      assert.deepEqual(
        (await rules(kind, 0)).map(({ rule }) => rule),
        [kept],
      );
    });
  }

  test(`D4.15 store ${name}: each message of a landing takes a number, also where none of its workspaces is known`, async (t) => {
    const { land, rules } = await fixture(t, driver);
    const change = upsert(access(ip('192.0.2.1')));
    await land([change]);
    await land([
      { change, workspaceId: '00000000-0000-7000-8000-000000000000' },
      { change, workspaceId: '00000000-0000-7000-8000-000000000001' },
    ]);
    await land([upsert(access(ip('192.0.2.2')))]);
    const [first, last] = await rules();
    assert.equal(last!.id - first!.id, 3);
  });

  test(`D3 identity, store ${name}: rule_ref and value name different rules; an upsert replaces the whole rule`, async (t) => {
    const { land, rules } = await fixture(t, driver);
    const target = ip('192.0.2.1');
    await land([
      upsert(access(target, { name: 'by value', expiresAt: T0 + 60_000 })),
      upsert(access(target, { ruleRef: 'a', name: 'by ref' })),
      upsert(access(target, { action: 'allow' })),
    ]);
    assert.equal((await rules()).length, 3);
    await land([upsert(access(target)), upsert(access(ip('192.0.2.2'), { ruleRef: 'a' }))], T0 + 5);
    const after = await rules();
    assert.equal(after.length, 3);
    const byValue = after.find((r) => r.rule.ruleRef === null && r.rule.action === 'block');
    assert.deepEqual([byValue?.rule.name, byValue?.rule.expiresAt, byValue?.createdAt, byValue?.updatedAt], [null, null, T0, T0 + 5]);
    const byRef = after.find((r) => r.rule.ruleRef === 'a');
    assert.deepEqual(byRef?.rule, access(ip('192.0.2.2'), { ruleRef: 'a' }));
  });

  test(`D3 store ${name}: deletes by value take every rule with that target and action, with or without rule_ref`, async (t) => {
    const { land, rules, targets } = await fixture(t, driver);
    const target = ip('192.0.2.1');
    await land([
      upsert(access(target)),
      upsert(access(target, { ruleRef: 'a' })),
      upsert(access(target, { ruleRef: 'b' })),
      upsert(access(target, { ruleRef: 'c', action: 'allow' })),
      upsert(access(ip('192.0.2.2'))),
      upsert(access({ kind: 'country', country: 'DE' })),
      upsert(access({ kind: 'asn', asn: 64500 })),
    ]);
    await land([{ change: 'delete_by_value', kind: 'access_rule', action: 'block', target }]);
    assert.deepEqual(
      await targets(),
      ['192.0.2.1', '192.0.2.2', 'AS64500', 'DE'].map((x) => (x.startsWith('1') ? formatTarget(ip(x)) : x)).sort(),
    );
    assert.deepEqual(
      (await rules()).filter((r) => r.rule.action === 'allow').map((r) => r.rule.ruleRef),
      ['c'],
    );
    await land([
      { change: 'delete', kind: 'access_rule', ruleRef: 'c' },
      { change: 'delete', kind: 'access_rule', ruleRef: 'never there' },
      { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: { kind: 'country', country: 'DE' } },
      { change: 'delete', kind: 'waf_rule', ruleRef: 'never there' },
    ]);
    assert.deepEqual(await targets(), [formatTarget(ip('192.0.2.2')), 'AS64500'].sort());
  });

  test(`D3 store ${name}: an upsert on an expired rule counts as a new rule, on an active one created_at stays`, async (t) => {
    const { land, rules } = await fixture(t, driver);
    const lapsing = access(ip('192.0.2.1'), { ruleRef: 'a', expiresAt: T0 + 60_000 });
    await land([upsert(lapsing)], T0);
    await land([upsert({ ...lapsing, expiresAt: T0 + 120_000 })], T0 + 59_999);
    assert.equal((await rules())[0].createdAt, T0);
    await land([upsert({ ...lapsing, expiresAt: T0 + 300_000 })], T0 + 120_000);
    assert.equal((await rules())[0].createdAt, T0 + 120_000);
  });

  test(`D4 store ${name}: a batch lands exactly as its entries one by one`, async (t) => {
    const changes: RuleChange[] = [];
    let seed = 42;
    const random = (n: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 8) % n;
    };
    for (let i = 0; i < 600; i += 1) {
      const target = ip(`192.0.2.${random(4)}`);
      const action = random(3) === 0 ? 'allow' : 'block';
      const ruleRef = random(2) === 0 ? null : `r${random(4)}`;
      const kind = random(5);
      if (kind === 0) changes.push({ change: 'delete_by_value', kind: 'access_rule', action, target });
      else if (kind === 1) changes.push({ change: 'delete', kind: 'access_rule', ruleRef: `r${random(4)}` });
      else
        changes.push(upsert(access(target, { ruleRef, action, name: `n${i}`, expiresAt: random(3) === 0 ? T0 + random(3) * 1000 : null })));
    }
    const together = await fixture(t, driver);
    const apart = await fixture(t, driver);
    for (let at = 0, n = 0; at < changes.length; at += 60, n += 1) {
      const part = changes.slice(at, at + 60);
      await together.land(part, T0 + n * 500);
      for (const change of part) await apart.land([change], T0 + n * 500);
      const view = async (f: typeof together) =>
        (await f.rules('access_rule', 0)).map(({ rule, createdAt, updatedAt }) => JSON.stringify([rule, createdAt, updatedAt])).sort();
      assert.deepEqual(await view(together), await view(apart));
      for (const { store, workspace } of [together, apart]) {
        assert.equal(await store.ruleCount(workspace.id), await store.countRules(workspace.id, 0));
      }
    }
  });

  test(`D4 store ${name}: landing is fenced: another owner's position writes nothing, a replay changes nothing`, async (t) => {
    const { store, workspace, targets } = await fixture(t, driver);
    const record = { offset: 0, timestamp: T0, key: workspace.id, headers: {}, value: '{}' };
    const item = (target: string): LandingItem => ({
      record,
      workspaceId: workspace.id,
      listId: null,
      receivedAt: T0,
      batchId: null,
      keyId: null,
      change: upsert(access(ip(target))),
    });
    const base = { streamId: STREAM, partition: 3, poison: [], now: T0 };
    assert.equal(await store.position(STREAM, 3), undefined);
    assert.deepEqual(await store.positionStreams(), []);
    assert.equal(await store.apply({ ...base, from: null, to: 5, items: [item('192.0.2.1')] }), 'landed');
    assert.equal(await store.apply({ ...base, from: null, to: 5, items: [item('192.0.2.2')] }), 'fenced');
    assert.equal(await store.apply({ ...base, from: 4, to: 9, items: [item('192.0.2.3')] }), 'fenced');
    assert.equal(await store.position(STREAM, 3), 5);
    assert.equal(await store.apply({ ...base, from: 5, to: 6, items: [item('192.0.2.4')] }), 'landed');
    assert.deepEqual(
      await targets(),
      ['192.0.2.1', '192.0.2.4'].map((x) => formatTarget(ip(x))),
    );
    assert.deepEqual(await store.positionStreams(), [STREAM]);
    await store.adoptStream('another');
    assert.equal(await store.position(STREAM, 3), undefined);
    await store.adoptStream('another', new Map([[2, 7]]));
    assert.deepEqual([await store.position('another', 2), await store.position('another', 3)], [7, undefined]);
  });

  test(`D4 store ${name}: two consumers at the same position: exactly one lands`, async (t) => {
    const { store, again, workspace, targets } = await fixture(t, driver);
    const other = await again();
    const record = { offset: 0, timestamp: T0, key: workspace.id, headers: {}, value: '{}' };
    for (let round = 0; round < 10; round += 1) {
      const from = round === 0 ? null : round;
      const results = await Promise.all(
        [store, other].map((owner, n) => {
          const change = upsert(access(ip(`198.51.100.${round * 2 + n}`)));
          const item = { record, workspaceId: workspace.id, listId: null, receivedAt: T0, batchId: null, keyId: null, change };
          return owner.apply({ streamId: STREAM, partition: 0, from, to: round + 1, items: [item], poison: [], now: T0 });
        }),
      );
      assert.deepEqual(results.toSorted(), ['fenced', 'landed']);
    }
    assert.equal((await targets()).length, 10);
  });

  test(`D4 store ${name}: poison and unknown workspaces become dead letters with their original, in the landing transaction`, async (t) => {
    const { store, workspace, targets } = await fixture(t, driver);
    const record = (offset: number) => ({
      offset,
      timestamp: T0,
      key: 'k',
      headers: { schema_version: '9', x: 'ü' },
      value: `{"n":${offset}}`,
    });
    const good = {
      record: record(1),
      workspaceId: workspace.id,
      listId: null,
      receivedAt: T0,
      batchId: null,
      keyId: null,
      change: upsert(access(ip('192.0.2.1'))),
    };
    await store.apply({
      streamId: STREAM,
      partition: 0,
      from: null,
      to: 3,
      items: [good, { ...good, record: record(2), workspaceId: randomUUID() }],
      poison: [{ record: record(0), reason: 'unknown schema_version 9' }],
      now: T0 + 7,
    });
    assert.equal((await targets()).length, 1);
    const letters = await store.deadLetters(10);
    assert.deepEqual(
      letters.map(({ offset, at, streamId, value, headers }) => [offset, at, streamId, value, headers.x]),
      [
        [0, T0 + 7, STREAM, '{"n":0}', 'ü'],
        [2, T0 + 7, STREAM, '{"n":2}', 'ü'],
      ],
    );
    assert.equal(letters[0].reason, 'unknown schema_version 9');
    assert.match(letters[1].reason, /unknown workspace/);
    assert.deepEqual(await store.deadLetter(letters[0].id), letters[0]);
    assert.equal(await store.dropDeadLetter(letters[0].id), true);
    assert.equal(await store.dropDeadLetter(letters[0].id), false);
    assert.equal(await store.deadLetter(letters[0].id), undefined);
  });

  test(`D4 store ${name}: a message whose list is gone lands in the default list; lists keep their rules apart`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, description: 'the edge' });
    const change = upsert(access(ip('192.0.2.1')));
    await land([{ change, listId: list.id }, { change, listId: randomUUID() }, { change }]);
    const directory = await store.directory(workspace.id);
    const defaultList = directory?.lists.find((l) => l.isDefault);
    assert.deepEqual((await rules()).map((r) => r.listId).sort(), [defaultList?.id, list.id].sort());
    assert.equal((await rules('access_rule', T0, list.id)).length, 1);
  });

  test(`2.6 store ${name}: revisions of a list and its workspace move with rules, settings and description, and with nothing else`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', {
      ...NO_SETTINGS,
      format: 'commented',
      maxEntries: 4_000_000,
      confidence: 'low',
    });
    const state = async () => {
      const directory = (await store.directory(workspace.id))!;
      return [directory.revision, ...directory.lists.map((l) => l.revision)];
    };
    let before = await state();
    await land([upsert(access(ip('192.0.2.1')))]);
    let after = await state();
    assert.deepEqual(
      after.map((r, i) => r > before[i]),
      [true, true, false],
    );
    before = after;
    const changed = await store.updateList(workspace.id, list.id, { description: 'x', maxEntries: null, severity: 'critical' });
    assert.deepEqual(
      [changed.description, changed.maxEntries, changed.severity, changed.format, changed.confidence],
      ['x', null, 'critical', 'commented', 'low'],
    );
    after = await state();
    assert.deepEqual(
      after.map((r, i) => r > before[i]),
      [true, false, true],
    );
    before = after;
    await land([{ change: 'upsert', kind: 'waf_rule', rule: waf('w') }]);
    assert.deepEqual(await state(), before);
    await store.deleteList(workspace.id, list.id);
    assert.ok((await state())[0] > before[0]);
    assert.equal(await store.directory(randomUUID()), undefined);
  });

  test(`4.3 store ${name}: a snapshot holds the active rules of one list or of all lists, both actions, and the head`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, description: 'the edge', family: 'v4' });
    await land([
      upsert(access(ip('192.0.2.1'), { expiresAt: T0 + 60_000, confidence: 'low', severity: 'critical' })),
      upsert(access(ip('10.0.0.0/8'), { action: 'allow' })),
      upsert(access(ip('2001:db8::/32'))),
      upsert(access(ip('255.255.255.255'))),
      upsert(access(ip('::/0'))),
      upsert(access({ kind: 'asn', asn: 4_294_967_295 })),
      upsert(access(ip('192.0.2.9'), { expiresAt: T0 })),
      { change: upsert(access({ kind: 'country', country: 'US' })), listId: list.id },
    ]);
    const all = collectingSink();
    const head = await store.snapshot(workspace.id, null, T0, all.sink);
    assert.deepEqual([head?.kind, head?.profile], ['workspace', { name: 'main', ...NO_SETTINGS }]);
    const show = (rows: typeof all.rows) => rows.map((r) => `${r.role} ${r.what} ${r.expires} ${r.levels}`).sort();
    assert.deepEqual(
      show(all.rows),
      [
        `block ${formatTarget(ip('192.0.2.1'))} ${(T0 + 60_000) / 1000} 9`,
        'allow 10.0.0.0/8 0 0',
        'block 2001:db8::/32 0 0',
        `block ${formatTarget(ip('255.255.255.255'))} 0 0`,
        'block ::/0 0 0',
        'block AS4294967295 0 0',
        'block US 0 0',
      ].sort(),
    );
    const one = collectingSink();
    const listHead = await store.snapshot(workspace.id, list.id, T0, one.sink);
    assert.deepEqual(show(one.rows), ['block US 0 0']);
    assert.deepEqual([listHead?.kind, listHead?.profile.name, listHead?.profile.family], ['list', 'edge', 'v4']);
    assert.equal(listHead?.profile.description, 'the edge');
    assert.equal(await store.snapshot(workspace.id, randomUUID(), T0, one.sink), undefined);
    assert.equal(await store.snapshot(randomUUID(), null, T0, one.sink), undefined);

    const ids = all.rows.map((r) => r.id);
    const states = await store.ruleStates(workspace.id, [...ids, 123_456_789]);
    assert.deepEqual(
      states.map((s) => `${s.id} ${s.action} ${formatTarget(s.target)} ${s.expires}`).sort(),
      all.rows.map((r) => `${r.id} ${r.role} ${r.what} ${r.expires}`).sort(),
    );
    assert.deepEqual(await store.ruleStates(randomUUID(), ids), []);
  });

  test(`D10.14 store ${name}: the rules of a list that signals name, by rule_ref and by value, expired ones too`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const [one, two, country] = [ip('192.0.2.1'), ip('2001:db8::/32'), { kind: 'country', country: 'US' } as const];
    const inList = [
      access(one),
      access(one, { ruleRef: 'r1' }),
      access(one, { action: 'allow', expiresAt: T0 + 1 }),
      access(two, { ruleRef: 'r2' }),
      access(country),
      access(ip('192.0.2.9'), { ruleRef: 'r3' }),
    ];
    await land([...inList.map((rule) => ({ change: upsert(rule), listId: list.id })), upsert(access(one, { ruleRef: 'r1' }))]);
    const named = async (refs: string[], targets: string[], workspaceId = workspace.id, listId = list.id) =>
      (await store.namedRules(workspaceId, listId, refs, targets)).map((rule) => `${rule.ruleRef} ${rule.action} ${rule.target}`).sort();
    const address = formatTarget(one);
    const first = [`null allow ${address}`, `null block ${address}`, `r1 block ${address}`];
    assert.deepEqual(await named([], [address]), first);
    assert.deepEqual(await named(['r1', 'r2', 'r9'], ['US', address, 'NL']), [...first, 'null block US', 'r2 block 2001:db8::/32'].sort());
    assert.deepEqual(await named([], []), []);
    const states = await store.ruleStates(
      workspace.id,
      (await store.namedRules(workspace.id, list.id, ['r3'], [])).map(({ id }) => id),
    );
    assert.deepEqual(
      states.map(({ target }) => formatTarget(target)),
      ['192.0.2.9'],
    );
    for (const [space, place] of [
      [randomUUID(), list.id],
      [workspace.id, randomUUID()],
    ])
      assert.deepEqual(await named(['r1'], ['US'], space, place), []);
  });

  test(`D13.4 store ${name}: one counter moves with expression rules, another with access rules, whoever changes them`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const revisions = async () => {
      const found = (await store.findNamed(workspace.id, ''))!;
      const head = (await store.snapshot(workspace.id, null, T0, undefined))!;
      assert.deepEqual([head.revision, head.expressionRevision], [found.revision, found.expressionRevision]);
      return { access: found.revision, expressions: found.expressionRevision };
    };
    let before = await revisions();
    const moved = async (what: string, changes: Parameters<typeof land>[0]) => {
      await land(changes);
      const now = await revisions();
      const [access, expressions] = [now.access > before.access, now.expressions > before.expressions];
      before = now;
      return [what, { access, expressions }];
    };
    const wafRule = (rule: ExpressionRule): RuleChange => ({ change: 'upsert', kind: 'waf_rule', rule });
    const batch = { batchId: newBatchId(T0), keyId: null };
    assert.deepEqual(await moved('access', [upsert(access(ip('192.0.2.1')))]), ['access', { access: true, expressions: false }]);
    const only = { access: false, expressions: true };
    assert.deepEqual(await moved('upsert', [{ ...batch, change: wafRule(waf('a')) }]), ['upsert', only]);
    assert.deepEqual(await moved('update', [wafRule(waf('a', { action: 'allow' })), wafRule(waf('b'))]), ['update', only]);
    assert.deepEqual(await moved('delete', [{ change: 'delete', kind: 'waf_rule', ruleRef: 'b' }]), ['delete', only]);
    const [{ id }] = await rules('waf_rule');
    assert.deepEqual(await moved('by id', [{ change: 'delete_rules', kind: 'waf_rule', ids: [id] }]), ['by id', only]);
    const [, undone] = await moved('undo', [{ change: 'undo', batchId: batch.batchId }]);
    assert.equal((undone as typeof only).expressions, true);
    assert.deepEqual(await moved('nothing', []), ['nothing', { access: false, expressions: false }]);
  });

  test(`D13.1 store ${name}: a snapshot hands over whole rules, of its lists and of the workspace; rules are found by their ids`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const other = await store.createWorkspace(organization.id, 'other');
    await land([
      upsert(access(ip('192.0.2.1'))),
      { change: upsert(access(ip('192.0.2.2'), { labels: { a: 1 } })), listId: list.id },
      upsert(access(ip('192.0.2.3'), { expiresAt: T0 })),
      { change: 'upsert', kind: 'waf_rule', rule: waf('a') },
      { change: 'upsert', kind: 'waf_rule', rule: waf('lapsed', { expiresAt: T0 }) },
      { change: 'upsert', kind: 'smart_firewall_rule', rule: waf('s') },
    ]);
    const whole = async (feedId: string | null, ...kinds: Kind[]) => {
      const found: StoredRule[] = [];
      await store.snapshot(workspace.id, feedId, T0, undefined, { kinds, take: (rule) => found.push(rule) });
      return found;
    };
    const names = (found: readonly StoredRule[]) =>
      found.map(({ kind, rule }) => ('target' in rule ? formatTarget(rule.target) : `${kind} ${rule.ruleRef}`)).sort();
    assert.deepEqual(names(await whole(null, 'access_rule')), ['192.0.2.1', '192.0.2.2']);
    assert.deepEqual(names(await whole(list.id, 'access_rule')), ['192.0.2.2']);
    assert.deepEqual(names(await whole(null, 'waf_rule', 'smart_firewall_rule')), ['smart_firewall_rule s', 'waf_rule a']);
    const both = collectingSink();
    const expressions: StoredRule[] = [];
    await store.snapshot(workspace.id, null, T0, both.sink, { kinds: ['waf_rule'], take: (rule) => expressions.push(rule) });
    assert.deepEqual([both.rows.length, names(expressions)], [2, ['waf_rule a']]);

    for (const kind of ['access_rule', 'waf_rule'] as const) {
      const found = await whole(null, kind);
      const ids = found.map(({ id }) => id);
      const asked = await store.rulesById(workspace.id, kind, [...ids, 123_456_789]);
      assert.deepEqual(
        asked.sort((a, b) => a.id - b.id),
        found.sort((a, b) => a.id - b.id),
      );
      assert.deepEqual(await store.rulesById(other.id, kind, ids), []);
    }
  });

  test(`D11.4 store ${name}: the rules of a list are told for a comparison with all that it looks at, piece by piece`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const other = await store.createWorkspace(organization.id, 'other');
    const rules = [
      access(ip('255.255.255.0/24'), { reason: 'r', labels: { a: 1 }, config: { b: [2] }, name: 'n', expiresAt: T0 + 60_000 }),
      access(ip('2001:db8::/32'), { ruleRef: 'ref' }),
      access({ kind: 'country', country: 'FR' }),
    ];
    await land([...rules, access(ip('192.0.2.3'), { expiresAt: T0 })].map((rule) => ({ change: upsert(rule), listId: list.id })));
    await land([upsert(access(ip('192.0.2.4')))]);
    const first = await store.comparedRules(workspace.id, list.id, { now: T0, after: -1, limit: 2 });
    const rest = await store.comparedRules(workspace.id, list.id, { now: T0, after: first[1]!.id, limit: 2 });
    const found = [...first, ...rest].map(({ id: _, ...rule }) => rule);
    assert.deepEqual(
      found,
      rules.map(({ confidence: _, severity: __, ...rule }) => rule),
    );
    assert.deepEqual(await store.comparedRules(other.id, list.id, { now: T0, after: -1, limit: 2 }), []);
  });

  test(`D7.6 store ${name}: a snapshot holds the never-block rules of all lists as exceptions, where its list asks for them`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, subtractAllow: 'workspace' });
    const other = await store.createWorkspace(organization.id, 'other');
    const allow = (target: Target, more: Partial<AccessRule> = {}) => upsert(access(target, { action: 'allow', ...more }));
    await land([
      { change: upsert(access(ip('192.0.2.0/24'))), listId: list.id },
      { change: allow(ip('192.0.2.1')), listId: list.id },
      allow(ip('192.0.2.2'), { ruleRef: 'ref', expiresAt: T0 + 60_000 }),
      allow(ip('192.0.2.3'), { ruleRef: 'lapsed', expiresAt: T0 }),
      allow(ip('2001:db8::/32')),
      allow({ kind: 'country', country: 'NL' }),
      upsert(access(ip('192.0.2.4'))),
      { change: allow(ip('192.0.2.5')), workspaceId: other.id },
    ]);
    const read = async (feedId: string | null) => {
      const { rows, sink } = collectingSink();
      const head = (await store.snapshot(workspace.id, feedId, T0, sink))!;
      return { head, rows: rows.map((r) => `${r.role} ${r.what} ${r.expires}`).sort() };
    };
    const own = ['allow 192.0.2.1 0', 'block 192.0.2.0/24 0'];
    const exceptions = ['192.0.2.1 0', `192.0.2.2 ${(T0 + 60_000) / 1000}`, '2001:db8::/32 0', 'NL 0'].map((rule) => `exception ${rule}`);
    const first = await read(list.id);
    assert.deepEqual(first.rows, [...own, ...exceptions].sort());
    const workspaceRevision = async () => (await store.directory(workspace.id))!.revision;
    assert.equal(first.head.revision, -(await workspaceRevision()));
    await land([allow(ip('192.0.2.6'))]);
    assert.equal((await read(list.id)).head.revision, -(await workspaceRevision()));

    const feed = { ...DEVICE, subtractAllow: 'workspace', lists: [list.id] } as const;
    const { id: device } = await store.createFeed(workspace.id, feed);
    assert.deepEqual((await read(device)).rows, (await read(list.id)).rows);
    assert.equal((await read(device)).head.revision, -(await workspaceRevision()));
    await store.updateFeed(workspace.id, device, { subtractAllow: 'off' });
    assert.ok((await read(device)).head.revision > 0);

    for (const subtractAllow of ['on', 'off', null] as const) {
      const { revision } = await store.updateList(workspace.id, list.id, { subtractAllow });
      const { head, rows } = await read(list.id);
      assert.deepEqual([rows, head.profile.subtractAllow, head.revision], [own, subtractAllow, revision]);
    }
    assert.equal((await read(null)).head.profile.subtractAllow, null);
    await store.updateWorkspace(workspace.id, { subtractAllow: 'on' });
    const all = await read(null);
    assert.deepEqual([all.head.profile.subtractAllow, all.rows.filter((row) => row.startsWith('exception'))], ['on', []]);
  });

  test(`D10.6 store ${name}: rules are found by their target: exact, covering, covered, countries and ASNs; of one list or all`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const other = await store.createWorkspace(organization.id, 'other');
    const block = (target: Target, more: Partial<AccessRule> = {}) => upsert(access(target, more));
    await land([
      block(ip('0.0.0.0/0')),
      block(ip('192.0.2.0/24')),
      { change: block(ip('192.0.2.0/24'), { ruleRef: 'ref', action: 'allow' }), listId: list.id },
      { change: block(ip('192.0.2.0/24'), { ruleRef: 'ref 2', action: 'allow' }), listId: list.id },
      block(ip('192.0.2.0/25')),
      { change: block(ip('192.0.2.0')), listId: list.id },
      block(ip('192.0.2.255'), { ruleRef: 'last' }),
      block(ip('192.0.2.9'), { expiresAt: T0 }),
      block(ip('192.0.3.0')),
      block(ip('192.0.1.255')),
      block(ip('2001:db8::/32')),
      block(ip('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff')),
      block(ip('2001:db9::')),
      block({ kind: 'country', country: 'NL' }),
      { change: block({ kind: 'asn', asn: 64500 }, { ruleRef: 'as' }), listId: list.id },
      { change: block(ip('192.0.2.0/24')), workspaceId: other.id },
    ]);
    const find = async (match: RuleMatch, listId?: string) => {
      const filter = { kind: 'access_rule', now: T0, match, ...(listId !== undefined && { listId }) } as const;
      const found = await Array.fromAsync(store.rules(workspace.id, filter));
      for (const limit of [1, 2, 1000]) assert.deepEqual(await inSteps(store, workspace.id, { ...filter, limit }), found);
      return found.map(({ rule }) => `${(rule as AccessRule).action} ${formatTarget((rule as AccessRule).target)}`);
    };
    const network = (text: string) => (ip(text) as Extract<Target, { kind: 'ip' }>).network;
    const exact = await find({ how: 'exact', target: ip('192.0.2.0/24') });
    assert.deepEqual(exact, ['block 192.0.2.0/24', 'allow 192.0.2.0/24', 'allow 192.0.2.0/24']);
    assert.deepEqual(await find({ how: 'exact', target: { kind: 'asn', asn: 64500 } }), ['block AS64500']);
    assert.deepEqual(await find({ how: 'covering', network: network('192.0.2.0') }), [
      'block 0.0.0.0/0',
      'block 192.0.2.0/24',
      'block 192.0.2.0/25',
      'allow 192.0.2.0/24',
      'allow 192.0.2.0/24',
      'block 192.0.2.0',
    ]);
    assert.deepEqual(await find({ how: 'covering', network: network('192.0.2.0') }, list.id), [
      'allow 192.0.2.0/24',
      'allow 192.0.2.0/24',
      'block 192.0.2.0',
    ]);
    assert.deepEqual(await find({ how: 'covered', network: network('192.0.2.0/24') }), [
      'block 192.0.2.0/24',
      'block 192.0.2.0/25',
      'block 192.0.2.255',
      'allow 192.0.2.0/24',
      'allow 192.0.2.0/24',
      'block 192.0.2.0',
    ]);
    assert.deepEqual(await find({ how: 'covered', network: network('192.0.2.0/25') }, list.id), ['block 192.0.2.0']);
    assert.deepEqual(await find({ how: 'covering', network: network('2001:db8::1') }), ['block 2001:db8::/32']);
    assert.deepEqual(await find({ how: 'covered', network: network('2001:db8::/32') }), [
      'block 2001:db8::/32',
      'block 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    ]);
    assert.deepEqual(await find({ how: 'covered', network: network('::/0') }), [
      'block 2001:db8::/32',
      'block 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
      'block 2001:db9::',
    ]);
    assert.deepEqual(await find({ how: 'geo' }), ['block NL', 'block AS64500']);
  });

  test(`D10.7 store ${name}: reading goes on behind a rule, page by page, from list to list`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const host = (n: number) => upsert(access({ kind: 'ip', network: { family: 4, address: n, prefix: 32 } }));
    await land(Array.from({ length: 1500 }, (_, n) => host(n)));
    await land([{ change: host(1), listId: list.id }, host(2000), { change: host(2), listId: list.id }]);
    await land(['a', 'b', 'c'].map((ref) => ({ change: 'upsert', kind: 'waf_rule', rule: waf(ref) })));
    for (const kind of ['access_rule', 'waf_rule'] as const) {
      const all = await rules(kind);
      const positionOf = ({ id, listId, rule }: StoredRule) => ({ id, listId, ruleRef: rule.ruleRef });
      for (const at of [0, 1, 2, 999, 1000, 1498, 1500, 1501, 1502].filter((each) => each < all.length)) {
        const rest = await Array.fromAsync(store.rules(workspace.id, { kind, now: T0, after: positionOf(all[at]) }));
        assert.deepEqual(rest, all.slice(at + 1), `${kind} ${at}`);
      }
    }
    const gone = { id: 1, listId: randomUUID(), ruleRef: null };
    assert.deepEqual(await Array.fromAsync(store.rules(workspace.id, { kind: 'access_rule', now: T0, after: gone })), []);
  });

  test(`D15.31 store ${name}: expression rules are read in the order of enforcement, in steps`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const rule = (ruleRef: string, order: number | null, more: Partial<ExpressionRule> = {}) =>
      ({ change: 'upsert', kind: 'waf_rule', rule: { ...waf(ruleRef), order, ...more } }) as const;
    await land([
      rule('z', 1),
      rule('b', 10),
      rule('a', 10),
      rule('none-2', null),
      rule('none-1', null),
      rule('least', Number.MIN_SAFE_INTEGER),
      rule('most', Number.MAX_SAFE_INTEGER),
      rule('lapsed', 2, { expiresAt: T0 }),
      { change: rule('theirs', 3), workspaceId: other.id },
    ]);
    for (const limit of [1, 2, 3, 1000]) {
      const found = await inSteps(store, workspace.id, { kind: 'waf_rule', now: T0, limit });
      assert.deepEqual(
        found.map((each) => each.rule.ruleRef),
        ['least', 'z', 'a', 'b', 'most', 'none-1', 'none-2'],
        `limit ${limit}`,
      );
    }
    assert.deepEqual(await store.ruleStep('unknown', { kind: 'waf_rule', now: T0, limit: 10 }), { rules: [], places: [], next: null });
  });

  test(`D15.31 store ${name}: a step of access rules goes on behind lists without any, and behind rules that do not match`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const lists = await Promise.all(Array.from({ length: 60 }, (_, n) => store.createList(workspace.id, `list ${n}`, NO_SETTINGS)));
    const host = (n: number) => upsert(access({ kind: 'ip', network: { family: 4, address: n, prefix: 32 } }));
    await land(Array.from({ length: 1500 }, (_, n) => host(n)));
    await land([{ change: host(1400), listId: lists.at(-1)!.id }]);
    const filter = { kind: 'access_rule', now: T0, limit: 1000 } as const;
    const all = await inSteps(store, workspace.id, filter);
    assert.deepEqual(all, await Array.fromAsync(store.rules(workspace.id, filter)));
    const network = { family: 4, address: 1280, prefix: 25 } as const;
    const found = await inSteps(store, workspace.id, { ...filter, match: { how: 'covered', network } });
    assert.deepEqual(found.length, 129);
    const first = await store.ruleStep(workspace.id, filter);
    assert.ok(first.rules.length === 1000 && first.next !== null);
    // Each rule has a place, and the rest comes behind it, also where its list is gone.
    const { places } = await store.ruleStep(workspace.id, { ...filter, limit: 3 });
    assert.deepEqual((await store.ruleStep(workspace.id, { ...filter, after: places[1]!, limit: 2 })).rules, all.slice(2, 4));
    const [, gone, next] = (await store.directory(workspace.id))!.lists.map(({ id }) => id) as [string, string, string];
    await land([5, 6].map((n) => ({ change: host(n), listId: gone })));
    await land([{ change: host(7), listId: next }]);
    const { rules, places: there } = await store.ruleStep(workspace.id, { ...filter, listId: gone });
    assert.equal(rules.length, 2);
    await store.deleteList(workspace.id, gone);
    const behind = await store.ruleStep(workspace.id, { ...filter, after: there[0]!, limit: 1 });
    assert.deepEqual(
      behind.rules.map(({ listId }) => listId),
      [next],
    );
  });

  test(`4.3 store ${name}: a snapshot of many rules reads each once`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    for (let part = 0; part < 20; part += 1) {
      await land(
        Array.from({ length: 1000 }, (_, i) =>
          upsert(access({ kind: 'ip', network: { family: 4, address: part * 1000 + i, prefix: 32 } })),
        ),
      );
    }
    const { rows, sink } = collectingSink();
    await store.snapshot(workspace.id, null, T0, sink);
    assert.equal(rows.length, 20_000);
    assert.equal(new Set(rows.map((r) => r.what)).size, 20_000);
    assert.equal(new Set(rows.map((r) => r.id)).size, 20_000);
  });

  test(`D4.13 store ${name}: whatever decodes lands, and reads back`, async (t) => {
    const { store, workspace, rules } = await fixture(t, driver);
    let position: number | null = null;
    let landed = 0;
    const records = fc.sample(foreignRecord(workspace.id), { seed: 12, numRuns: 1500 });
    for (let at = 0; at < records.length; at += 100) {
      const decoded = records
        .slice(at, at + 100)
        .map((record, i) => ({ record: { ...record, offset: at + i }, result: decodeSignalRecord(record) }));
      const items = decoded.flatMap(({ record, result }) => ('poison' in result ? [] : [{ record, ...result }]));
      const poison = decoded.flatMap(({ record, result }) => ('poison' in result ? [{ record, reason: result.poison }] : []));
      landed += items.filter(({ workspaceId }) => workspaceId === workspace.id).length;
      assert.equal(await store.apply({ streamId: STREAM, partition: 0, from: position, to: at + 100, items, poison, now: T0 }), 'landed');
      position = at + 100;
    }
    assert.ok(landed > 100, `${landed} landed`);
    assert.equal((await store.deadLetters(10_000)).length, records.length - landed);
    assert.equal(await store.deadLetterCount(10_000), records.length - landed);
    assert.equal(await store.deadLetterCount(1), 1);
    for (const kind of KINDS) await rules(kind, 0);
    assert.ok((await store.countRules(workspace.id, 0)) > 0);
    await store.snapshot(workspace.id, null, 0, collectingSink().sink);
  });

  test(`D4.14 store ${name}: a dead letter keeps its instant, as near as a year of four digits comes to it`, async (t) => {
    const { store } = await fixture(t, driver);
    const years = (text: string) => Date.parse(text);
    const instants: [given: number, kept: number][] = [
      [T0, T0],
      [-1, -1],
      [T0 * 1e6, years('9999-12-31T23:59:59.999Z')],
      [2 ** 63, years('9999-12-31T23:59:59.999Z')],
      [-(2 ** 63), years('0000-01-01T00:00:00.000Z')],
      [Number.NaN, 0],
    ];
    const record = { key: 'k', headers: {}, value: '{}' };
    const poison = instants.map(([timestamp], offset) => ({ record: { ...record, offset, timestamp }, reason: 'r' }));
    await store.apply({ streamId: STREAM, partition: 0, from: null, to: poison.length, items: [], poison, now: T0 });
    assert.deepEqual(
      (await store.deadLetters(10)).map(({ timestamp }) => timestamp),
      instants.map(([, kept]) => kept),
    );
  });

  test(`D4.15 store ${name}: the n-th entry of a batch makes the rule with the n-th id, and an update keeps the id`, async (t) => {
    const { land, rules } = await fixture(t, driver);
    const ids = async () =>
      (await Promise.all(KINDS.map((kind) => rules(kind, 0))))
        .flat()
        .map(({ id, rule: { name } }) => [name, id])
        .sort();
    const [first, second] = [ip('192.0.2.1'), ip('192.0.2.2')];
    await land([
      upsert(access(first, { ruleRef: 'r', name: 'by ref' })),
      upsert(access(first, { name: 'by value' })),
      { change: 'upsert', kind: 'waf_rule', rule: waf('w', { name: 'waf' }) },
      { change: 'delete', kind: 'access_rule', ruleRef: 'never there' },
      { workspaceId: randomUUID(), change: upsert(access(second)) },
      { change: 'upsert', kind: 'smart_firewall_rule', rule: waf('w', { name: 'smart' }) },
      upsert(access(first, { ruleRef: 'r', name: 'by ref' })),
      upsert(access(second, { action: 'allow', name: 'allowed' })),
    ]);
    const made = [
      ['allowed', 8],
      ['by ref', 1],
      ['by value', 2],
      ['smart', 6],
      ['waf', 3],
    ];
    assert.deepEqual(await ids(), made);
    await land([
      upsert(access(second, { ruleRef: 'r', name: 'by ref' })),
      { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: first },
      upsert(access(first, { name: 'by value', expiresAt: T0 + 1000 })),
      { change: 'upsert', kind: 'waf_rule', rule: waf('w', { name: 'waf' }) },
    ]);
    assert.deepEqual(await ids(), made.with(2, ['by value', 11]));
    // A rule that has expired is a new rule, in its old place.
    await land([upsert(access(first, { name: 'by value' }))], T0 + 5000);
    assert.deepEqual(await ids(), made.with(2, ['by value', 11]));
  });

  test(`D4.16 store ${name}: the number of a workspace's rules is known without counting, until they are swept away`, async (t) => {
    const { store, organization, workspace, land } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const is = async (rules: number, ofOther = 0) =>
      assert.deepEqual([await store.ruleCount(workspace.id), await store.ruleCount(other.id)], [rules, ofOther]);
    await is(0);
    const target = ip('192.0.2.1');
    await land([
      upsert(access(target)),
      upsert(access(target)),
      upsert(access(target, { ruleRef: 'a' })),
      { workspaceId: other.id, change: upsert(access(target, { expiresAt: T0 + 1000 })) },
      { listId: list.id, change: upsert(access(target, { ruleRef: 'a' })) },
      { listId: list.id, change: upsert(access(ip('192.0.2.2'), { expiresAt: T0 + 1000 })) },
      ...EXPRESSION_KINDS.flatMap((kind): RuleChange[] => [
        { change: 'upsert', kind, rule: waf('a') },
        { change: 'upsert', kind, rule: waf('a', { name: 'again' }) },
        { change: 'upsert', kind, rule: waf('b', { expiresAt: T0 + 1000 }) },
        { change: 'delete', kind, ruleRef: 'never there' },
      ]),
    ]);
    const expressions = EXPRESSION_KINDS.length;
    await is(4 + 2 * expressions, 1);
    // Made and deleted in one batch; deleted and made; an update.
    await land([
      upsert(access(ip('192.0.2.3'))),
      { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip('192.0.2.3') },
      upsert(access(target, { name: 'update' })),
      { change: 'delete', kind: 'waf_rule', ruleRef: 'a' },
      { change: 'upsert', kind: 'waf_rule', rule: waf('a') },
    ]);
    await is(4 + 2 * expressions, 1);
    await land([{ change: 'delete_by_value', kind: 'access_rule', action: 'block', target }]);
    await is(2 + 2 * expressions, 1);
    const sweep = (rulesExpiredBefore: number) => store.sweep({ now: T0 + 5000, rulesExpiredBefore, auditBefore: 0, limit: 10 });
    // Batches, and what they replaced, first.
    while ((await sweep(T0 + 1)) > 0);
    assert.equal(await sweep(T0 + 5000), 2 + expressions);
    await is(1 + expressions, 0);
    await store.deleteList(workspace.id, list.id);
    await is(1 + expressions);
    while ((await sweep(0)) > 0);
    await is(expressions);
    assert.equal(await store.countRules(workspace.id, 0), expressions);
    assert.equal(await store.ruleCount(randomUUID()), 0);
  });

  test(`D2.15 store ${name}: one list more than a workspace may have is refused`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const create = () => store.createList(workspace.id, 'edge', NO_SETTINGS, 3);
    const list = await create();
    await create();
    await assert.rejects(create(), { code: 'REFUSED', message: /has 3 lists, its limit: .* MAX_LISTS$/ });
    assert.equal(await store.listCount(workspace.id), 3);
    await store.deleteList(workspace.id, list.id, { forGood: true });
    await create();
  });

  test(`D3.5 store ${name}: an expiry of up to a hundred years is exact`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const seconds = [60, 2 ** 31, 2 ** 32 - T0 / 1000, 2_600_000_000, LIMITS.expirySeconds];
    const change = (expiration: number, i: number) => {
      const value = JSON.stringify({ type: 'access_rules', action: 'block', ip: `192.0.2.${i}`, expiration });
      const decoded = decodeSignalRecord({ offset: 0, timestamp: T0, key: workspace.id, headers: { workspace_id: workspace.id }, value });
      return 'poison' in decoded ? assert.fail(decoded.poison) : decoded.change;
    };
    await land(seconds.map(change));
    const expiries = seconds.map((lifetime) => T0 / 1000 + lifetime);
    assert.deepEqual(
      (await rules()).map(({ rule }) => rule.expiresAt),
      expiries.map((second) => second * 1000),
    );
    const { rows, sink } = collectingSink();
    await store.snapshot(workspace.id, null, T0, sink);
    assert.deepEqual(
      rows.map(({ expires }) => expires).sort((a, b) => a - b),
      expiries,
    );
    assert.deepEqual(
      (
        await store.ruleStates(
          workspace.id,
          rows.map(({ id }) => id),
        )
      )
        .map(({ expires }) => expires)
        .sort((a, b) => a - b),
      expiries,
    );
    for (const [i, second] of expiries.entries()) {
      assert.equal(await store.countRules(workspace.id, second * 1000 - 1), seconds.length - i);
      assert.equal(await store.countRules(workspace.id, second * 1000), seconds.length - i - 1);
    }
  });

  test(`4.4 store ${name}: a list is found by its UUID or its exact name, without a look at the others`, async (t) => {
    const { store, organization, workspace } = await fixture(t, driver);
    const edge = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, description: 'the edge', format: 'commented' });
    const twins = [await store.createList(workspace.id, 'twin', NO_SETTINGS), await store.createList(workspace.id, 'twin', NO_SETTINGS)];
    const imposter = await store.createList(workspace.id, edge.id, NO_SETTINGS);
    const other = await store.createWorkspace(organization.id, 'other');
    const found = async (ref: string) => (await store.findNamed(workspace.id, ref))?.lists.map(({ id }) => id);
    const { lists, ...head } = (await store.directory(workspace.id))!;
    const {
      lists: [asFound],
      feeds: _,
      expressionRevision: __,
      ...headFound
    } = (await store.findNamed(workspace.id, 'edge'))!;
    assert.deepEqual(
      asFound,
      lists.find(({ id }) => id === edge.id),
    );
    assert.deepEqual({ ...headFound, readAt: 0 }, { ...head, signingSecret: null, readAt: 0 });
    assert.ok(Math.abs(headFound.readAt - head.readAt) < 60_000);
    assert.deepEqual(await found(edge.id.toUpperCase()), [edge.id]);
    assert.deepEqual(await found(imposter.id), [imposter.id]);
    assert.deepEqual(
      await found('twin'),
      twins.map(({ id }) => id),
    );
    for (const ref of ['', 'Edge', 'edge ', 'no such', 'edge\0', '\ud800', randomUUID(), 'x'.repeat(100_000)])
      assert.deepEqual(await found(ref), []);
    assert.deepEqual((await store.findNamed(other.id, edge.id))?.lists, []);
    assert.equal(await store.findNamed(randomUUID(), edge.id), undefined);
    const marked = async (id: string) => (await store.directory(id))?.lists.find(({ isDefault }) => isDefault)?.id;
    assert.equal(await store.defaultList(workspace.id), await marked(workspace.id));
    assert.equal(await store.defaultList(other.id), await marked(other.id));
    assert.notEqual(await store.defaultList(other.id), await store.defaultList(workspace.id));
    assert.equal(await store.defaultList(randomUUID()), undefined);
    assert.equal(await store.listCount(workspace.id), 5);
    assert.equal(await store.listCount(other.id), 1);
    assert.equal(await store.listCount(randomUUID()), 0);
    await store.deleteList(workspace.id, edge.id);
    assert.deepEqual(await found('edge'), []);
    assert.deepEqual(await found(edge.id), [imposter.id]);
    assert.equal(await store.listCount(workspace.id), 4);
  });

  test(`D8.3 store ${name}: a UUID wins, of a list or a feed, then the name of lists, then that of a feed`, async (t) => {
    const { store, organization, workspace } = await fixture(t, driver);
    const edge = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const device = await store.createFeed(workspace.id, { ...DEVICE, lists: [edge.id] });
    const imposter = await store.createList(workspace.id, device.id, NO_SETTINGS);
    const other = await store.createWorkspace(organization.id, 'other');
    const found = async (ref: string, of = workspace.id) => {
      const { lists, feeds } = (await store.findNamed(of, ref))!;
      return [lists.map(({ id }) => id), feeds.map(({ id }) => id)];
    };
    assert.deepEqual(await found('device'), [[], [device.id]]);
    assert.deepEqual(await found(device.id), [[], [device.id]]);
    assert.deepEqual(await found(device.id.toUpperCase()), [[], [device.id]]);
    assert.deepEqual(await found('edge'), [[edge.id], []]);
    assert.deepEqual(await found(edge.id), [[edge.id], []]);
    for (const ref of ['', 'Device', 'device\0', randomUUID()]) assert.deepEqual(await found(ref), [[], []]);
    assert.deepEqual(await found('device', other.id), [[], []]);
    assert.deepEqual(await found(device.id, other.id), [[], []]);
    const { id, revision, ...profile } = (await store.findNamed(workspace.id, 'device'))!.feeds[0];
    const { lists: _l, minSources: _m, fit: _f, always: _a, ...given } = DEVICE;
    assert.deepEqual([id, profile], [device.id, given]);
    const head = await store.snapshot(workspace.id, device.id, T0, collectingSink().sink);
    assert.deepEqual([head?.kind, head?.profile, head?.revision], ['composed', given, revision]);
    assert.equal(await store.snapshot(other.id, device.id, T0, collectingSink().sink), undefined);
    await store.deleteFeed(workspace.id, device.id);
    assert.deepEqual(await found(device.id), [[imposter.id], []]);
    assert.equal(await store.snapshot(workspace.id, device.id, T0, collectingSink().sink), undefined);
  });

  test(`D8.4 store ${name}: lists and feeds share their names, also when they are restored`, async (t) => {
    const { store, organization, workspace } = await fixture(t, driver);
    await store.createList(workspace.id, 'edge', NO_SETTINGS);
    await store.createFeed(workspace.id, DEVICE);
    const refused = (work: Promise<unknown>) => assert.rejects(work, { code: 'REFUSED' });
    await refused(store.createFeed(workspace.id, { ...DEVICE, name: 'edge' }));
    await refused(store.createFeed(workspace.id, DEVICE));
    await refused(store.createList(workspace.id, 'device', NO_SETTINGS));
    const saved = { ...EDGE, id: randomUUID() };
    const before = (await store.directory(workspace.id))!.lists;
    await refused(store.restoreLists(workspace.id, [saved, { ...saved, id: randomUUID(), name: 'device' }]));
    await refused(store.restoreLists(workspace.id, [saved], [{ ...DEVICE, id: randomUUID(), name: 'edge' }]));
    assert.deepEqual((await store.directory(workspace.id))!.lists, before);
    // Another workspace has names of its own.
    const other = await store.createWorkspace(organization.id, 'other');
    await store.createFeed(other.id, { ...DEVICE, name: 'edge' });
    await store.createList(other.id, 'device', NO_SETTINGS);
  });

  test(`D8.1, D8.2, D8.8 store ${name}: a snapshot of a feed has the rules of its lists, with their levels where a rule has none`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const [a, b, c] = [
      await store.createList(workspace.id, 'a', { ...NO_SETTINGS, confidence: 'low' }),
      await store.createList(workspace.id, 'b', NO_SETTINGS),
      await store.createList(workspace.id, 'c', { ...NO_SETTINGS, severity: 'critical' }),
    ];
    const [six, country] = [ip('2001:db8::/32'), { kind: 'country', country: 'NL' } as const];
    await land([
      { change: upsert(access(ip('192.0.2.1'))), listId: a.id },
      { change: upsert(access(six, { confidence: 'high', severity: 'low' })), listId: a.id },
      { change: upsert(access(country, { action: 'allow' })), listId: a.id },
      { change: upsert(access(ip('192.0.2.2'), { severity: 'medium' })), listId: b.id },
      { change: upsert(access(ip('192.0.2.3'))), listId: c.id },
      upsert(access(ip('192.0.2.4'))),
    ]);
    const some = await store.createFeed(workspace.id, { ...DEVICE, name: 'some', lists: [a.id, b.id, a.id] });
    const every = await store.createFeed(workspace.id, { ...DEVICE, name: 'all', lists: null });
    assert.deepEqual([some.lists, every.lists], [[a.id, b.id], null]);
    const read = async (id: string) => {
      const { rows, sink } = collectingSink();
      await store.snapshot(workspace.id, id, T0, sink);
      return rows.map(({ what, levels }) => [what, levels] as const).sort();
    };
    const [fromA, fromB] = [
      [
        ['192.0.2.1', levelCode('low', null)],
        ['2001:db8::/32', levelCode('high', 'low')],
        ['NL', levelCode('low', null)],
      ],
      [['192.0.2.2', levelCode(null, 'medium')]],
    ];
    assert.deepEqual(await read(some.id), [...fromA, ...fromB].sort());
    const rest = [
      ['192.0.2.3', levelCode(null, 'critical')],
      ['192.0.2.4', 0],
    ];
    assert.deepEqual(await read(every.id), [...fromA, ...fromB, ...rest].sort());
    await store.updateFeed(workspace.id, some.id, { lists: [b.id] });
    assert.deepEqual(await read(some.id), fromB);
    // A list that is deleted leaves its feeds, and one without lists is empty.
    await store.deleteList(workspace.id, b.id);
    assert.deepEqual(await read(some.id), []);
    assert.deepEqual(
      (await store.feeds(workspace.id)).map(({ name, lists }) => [name, lists]),
      [
        ['some', []],
        ['all', null],
      ],
    );
    const later = await store.createList(workspace.id, 'later', NO_SETTINGS);
    await land([{ change: upsert(access(ip('192.0.2.5'))), listId: later.id }]);
    assert.equal((await read(every.id)).length, 6);
  });

  test(`D8.5 store ${name}: the revision of a feed moves with its lists and settings, never back, and with nothing else`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const [a, b] = [await store.createList(workspace.id, 'a', NO_SETTINGS), await store.createList(workspace.id, 'b', NO_SETTINGS)];
    const settings = { ...DEVICE, canaryKeys: null };
    const feed = await store.createFeed(workspace.id, { ...settings, lists: [a.id, b.id] });
    const every = await store.createFeed(workspace.id, { ...settings, name: 'all', lists: null });
    const revisions = async () => {
      const found = await Promise.all(['device', 'all'].map((ref) => store.findNamed(workspace.id, ref)));
      return found.map((directory) => directory!.feeds[0].revision);
    };
    let before = await revisions();
    const moves = async (work: () => Promise<unknown>) => {
      await work();
      const after = await revisions();
      const moved = after.map((revision, i) => Math.sign(revision - before[i]));
      before = after;
      return moved;
    };
    const change = upsert(access(ip('192.0.2.1')));
    assert.deepEqual(await moves(() => land([change])), [0, 1]);
    assert.deepEqual(await moves(() => land([{ change: upsert(access(ip('192.0.2.2'))), listId: a.id }])), [1, 1]);
    assert.deepEqual(await moves(() => land([{ change: { change: 'upsert', kind: 'waf_rule', rule: waf('w') } }])), [0, 0]);
    assert.deepEqual(await moves(() => store.updateList(workspace.id, b.id, { confidence: 'low' })), [1, 1]);
    assert.deepEqual(await moves(() => store.updateFeed(workspace.id, feed.id, { description: 'other' })), [1, 1]);
    for (let i = 0; i < 10; i += 1) await land([{ change: upsert(access(ip(`192.0.2.${10 + i}`))), listId: a.id }]);
    before = await revisions();
    assert.deepEqual(await moves(() => store.updateFeed(workspace.id, feed.id, { lists: [b.id] })), [1, 1]);
    assert.deepEqual(await moves(() => land([{ change: upsert(access(ip('192.0.2.3'))), listId: a.id }])), [0, 1]);
    assert.deepEqual(await moves(() => store.updateFeed(workspace.id, feed.id, { lists: null })), [1, 1]);
    assert.deepEqual(await moves(() => store.updateFeed(workspace.id, feed.id, { lists: [a.id, b.id] })), [1, 1]);
    assert.deepEqual(await moves(() => store.deleteList(workspace.id, a.id)), [1, 1]);
    // Where lists have to agree, or may be left out, a source may copy any other feed by its name (D46.1).
    assert.deepEqual(await moves(() => store.updateFeed(workspace.id, every.id, { maxEntries: 1 })), [1, 1]);
    await store.updateFeed(workspace.id, feed.id, { fit: null });
    before = await revisions();
    assert.deepEqual(await moves(() => store.updateFeed(workspace.id, every.id, { maxEntries: 2 })), [0, 1]);
    const [, { lists, maxEntries }] = await store.feeds(workspace.id);
    assert.deepEqual([lists, maxEntries], [null, 2]);
  });

  test(`D46.8 store ${name}: the views for reports have the columns of docs/operating.md, and say what the store holds`, async (t) => {
    const { store, query, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, format: 'plain' });
    const feed = await store.createFeed(workspace.id, { ...NO_SETTINGS, name: 'both', lists: null, minSources: 2, fit: 'lists' });
    const batchId = newBatchId(T0);
    const rule = access(ip('192.0.2.0/24'), { reason: 'scan', confidence: 'critical', severity: 'low', labels: { a: 'b' } });
    await land([
      { batchId, listId: list.id, keyId: 'k', actor: 'soc', change: upsert(rule) },
      { batchId, listId: list.id, keyId: 'k', actor: 'soc', change: upsert(access(ip('2001:db8::1'), { action: 'allow', expiresAt: T0 })) },
      { change: 'upsert', kind: 'waf_rule', rule: waf('w') },
      { change: 'upsert', kind: 'smart_firewall_rule', rule: waf('s') },
    ]);
    await store.noteFeedSizes([{ workspaceId: workspace.id, feedId: list.id, day: 20_000, v4: { last: 3, most: 4 }, v6: null }]);
    const docs = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const views = new Map([...docs.matchAll(/^\| `(report_\w+)` \|.* \| (.*) \|$/gm)].map(([, view, columns]) => [view!, columns!]));
    for (const [view, columns] of views) {
      const [row] = await query(`SELECT * FROM ${view} LIMIT 1`);
      assert.deepEqual(Object.keys(row!), columns.replaceAll('`', '').split(', '), view);
    }
    assert.deepEqual([...views.keys()], ['report_rules', 'report_batches', 'report_feeds']);
    const shown = async (columns: string, rest: string) =>
      (await query(`SELECT ${columns} FROM ${rest}`)).map((row) => Object.values(row).join(' '));
    assert.deepEqual(
      await shown('workspace, kind, list, action, target, rule_ref, confidence, severity, labels', 'report_rules ORDER BY id'),
      [
        'main access_rule edge block 192.0.2.0/24  critical low {"a":"b"}',
        'main access_rule edge allow 2001:db8::1    ',
        'main waf_rule  block  w   ',
        'main smart_firewall_rule  block  s   ',
      ],
    );
    const iso = (value: unknown) => (value instanceof Date ? value : new Date(String(value))).getTime();
    const [latest] = await query("SELECT updated_at, expires_at FROM report_rules WHERE target = '2001:db8::1'");
    assert.deepEqual([iso(latest!.updated_at), iso(latest!.expires_at)], [T0, T0]);
    assert.deepEqual(
      await shown(
        'b.batch_id, b.list, b.entries, b.key_id, b.actor, count(r.id)',
        `report_batches b JOIN report_rules r ON r.workspace_id = b.workspace_id
        AND r.change BETWEEN b.first_change AND b.last_change WHERE b.batch_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5`,
      ),
      [`${batchId} edge 2 k soc 2`],
    );
    assert.deepEqual(await shown('kind, feed, format, min_sources, fit, entries_v4', 'report_feeds ORDER BY kind, feed'), [
      'composed both  2 lists ',
      'list default    ',
      'list edge plain   3',
      'workspace main    ',
    ]);
    assert.equal((await query(`SELECT * FROM report_feeds WHERE feed_id = '${feed.id}'`)).length, 1);
  });

  test(`D8.6 store ${name}: deleting a feed revokes its keys and forgets its records, and leaves lists and rules`, async (t) => {
    const { store, query, workspace, land, targets } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const feed = await store.createFeed(workspace.id, { ...DEVICE, lists: [list.id] });
    const hash = createHash('sha256').update('bound to a feed').digest();
    await store.createKey(workspace.id, { ...KEY, hash, permissions: ['feed:read'], feedId: feed.id });
    const caller = await store.findCaller(hash);
    assert.deepEqual([caller?.listId, caller?.feedId], [null, feed.id]);
    assert.deepEqual((await store.keys(workspace.id))[0].feedId, feed.id);
    await land([{ change: upsert(access(ip('192.0.2.1'))), listId: list.id }]);
    const variant = { format: 'plain', family: 'v4', action: 'block' };
    const record = (feedId: string | null, hash: string, second: number) =>
      store.recordDocument(workspace.id, { feedId, ...variant }, { hash, snapshotAt: second, second });
    for (const [i, id] of [null, list.id, feed.id].entries()) await record(id, `${i}`, 10 + i);
    for (const [i, id] of [null, list.id, feed.id].entries()) assert.equal((await record(id, `${i}`, 20)).since, 10 + i);
    assert.equal((await query('SELECT * FROM feed_records')).length, 3);
    const keyRevision = await store.keyRevision();
    await store.deleteFeed(workspace.id, feed.id, { forGood: true });
    while ((await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 1000 })) > 0);
    assert.ok((await store.keyRevision()) > keyRevision);
    assert.equal(await store.findCaller(hash), undefined);
    assert.equal((await query('SELECT * FROM feed_records')).length, 2);
    assert.deepEqual(await query('SELECT * FROM feed_lists'), []);
    assert.deepEqual(await targets(), [formatTarget(ip('192.0.2.1'))]);
    await assert.rejects(record(feed.id, 'x', 30), /was deleted/);
    await assert.rejects(store.deleteFeed(workspace.id, feed.id), /no such feed/);
    await assert.rejects(store.updateFeed(workspace.id, feed.id, {}), /no such feed/);
    await assert.rejects(store.createFeed(workspace.id, { ...DEVICE, lists: [randomUUID()] }), /no such list/);
    assert.deepEqual(await store.feeds(workspace.id), []);
  });

  test(`D8.7 store ${name}: feeds are restored with their lists, settings and keys`, async (t) => {
    const { store, organization, workspace } = await fixture(t, driver);
    const main = { ...NO_SETTINGS, id: randomUUID(), name: 'main', description: null, isDefault: true };
    const edge = { ...EDGE, id: randomUUID() };
    const feeds = [
      { ...DEVICE, id: randomUUID(), lists: [edge.id, main.id] },
      { ...DEVICE, id: randomUUID(), name: 'all', lists: null, description: null },
    ];
    const saved = async (id: string) =>
      (await store.feeds(id)).map(({ workspaceId: _, lists, ...feed }) => ({ ...feed, lists: lists && [...lists].sort() }));
    const given = (ids: ReadonlyMap<string, string>) => {
      const here = (id: string) => ids.get(id)!;
      return feeds.map((feed) => ({ ...feed, id: here(feed.id), lists: feed.lists?.map(here).sort() ?? null }));
    };
    const ids = await store.restoreLists(workspace.id, [main, edge], feeds);
    assert.deepEqual(
      [...ids].filter(([before, after]) => before !== after),
      [],
    );
    assert.deepEqual(await saved(workspace.id), given(ids));
    // Once more: the same feeds, here with another name.
    const renamed = [{ ...feeds[0], name: 'other' }, feeds[1]];
    await store.restoreLists(workspace.id, [main, edge], renamed);
    assert.deepEqual(
      (await store.feeds(workspace.id)).map(({ name }) => name),
      ['other', 'all'],
    );
    // In another workspace the ids are taken; once more there: the feeds of those names.
    const other = await store.createWorkspace(organization.id, 'other');
    const otherIds = await store.restoreLists(other.id, [main, edge], feeds);
    assert.ok(feeds.every(({ id }) => otherIds.get(id) !== id));
    assert.deepEqual(await saved(other.id), given(otherIds));
    const again = await store.restoreLists(other.id, [main], [feeds[1]]);
    assert.equal(again.get(feeds[1].id), otherIds.get(feeds[1].id));
    const hash = createHash('sha256').update('moved').digest();
    const key = { ...KEY, id: randomUUID(), hash, createdAt: T0, revokedAt: null, lastUsedAt: null, permissions: ['feed:read'] as const };
    await store.restoreKeys(other.id, [{ ...key, feedId: again.get(feeds[1].id)! }]);
    assert.equal((await store.findCaller(hash))?.feedId, again.get(feeds[1].id));
  });

  test(`D5, D35.2 Last-Modified, store ${name}: a newer snapshot with another hash moves since forward, an older one changes nothing unless the newer one is of a clock that was ahead`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const key = { feedId: null, format: 'plain', family: 'v4', action: 'block' };
    const record = (hash: string, snapshotAt: number, second: number, of: typeof key = key) =>
      store.recordDocument(workspace.id, of, { hash, snapshotAt, second });
    assert.deepEqual(await record('a', 1000, 50), { hash: 'a', snapshotAt: 1000, since: 50 });
    assert.equal((await record('a', 2000, 60)).since, 50);
    assert.deepEqual(await record('b', 1500, 70), { hash: 'a', snapshotAt: 2000, since: 50 });
    assert.equal((await record('b', 3000, 70)).since, 70);
    assert.equal((await record('a', 4000, 70)).since, 71);
    assert.equal((await record('b', 5000, 60)).since, 72);
    assert.equal((await record('a', 1000, 10, { ...key, family: 'v6' })).since, 72, 'as late as the other variants');
    // D35.2: read by a clock that was an hour ahead for a moment.
    const now = Date.now();
    assert.equal((await record('b', now + 3_600_000, 73)).since, 72);
    assert.deepEqual(await record('c', now, 80), { hash: 'c', snapshotAt: now, since: 80 });
    assert.equal((await record('d', now - 1, 90)).hash, 'c');
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    assert.equal((await store.recordDocument(workspace.id, { ...key, feedId: list.id }, { hash: 'x', snapshotAt: 1, second: 5 })).since, 5);
    await assert.rejects(store.recordDocument(workspace.id, { ...key, feedId: randomUUID() }, { hash: 'x', snapshotAt: 1, second: 5 }));
  });

  test(`D35.7 Last-Modified, store ${name}: what puts one variant of a feed in the place of another gives all of them a later date`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const feed = await store.createFeed(workspace.id, { ...DEVICE, lists: [list.id] });
    const second = Math.floor(Date.now() / 1000) - 100;
    const since = (feedId: string, family: string, at: number) =>
      store.recordDocument(
        workspace.id,
        { feedId, format: 'plain', family, action: 'block' },
        { hash: family, snapshotAt: at, second: at },
      );
    const dates = async (feedId: string) => [(await since(feedId, 'v4', 0)).since, (await since(feedId, 'v6', 0)).since];
    for (const { id } of [list, feed]) {
      await since(id, 'v4', second);
      await since(id, 'v6', second + 10);
    }
    await store.updateList(workspace.id, list.id, { maxEntries: 9 });
    await store.updateFeed(workspace.id, feed.id, { maxEntries: 9, lists: null });
    for (const { id } of [list, feed]) assert.deepEqual(await dates(id), [second, second + 10]);
    await store.updateList(workspace.id, list.id, { family: 'v4' });
    const [moved, ...rest] = await dates(list.id);
    assert.ok(moved > second + 90 && rest.every((each) => each === moved));
    assert.deepEqual(await dates(feed.id), [second, second + 10]);
    await since(feed.id, 'both', second + 5000);
    await store.updateFeed(workspace.id, feed.id, { target: 'ipset' });
    assert.deepEqual(await dates(feed.id), [second + 5001, second + 5001]);
    // What was told until now, and may be told on by who does not know of the change yet, is not told with the date of what comes after it (D37.3).
    await store.updateList(workspace.id, list.id, { family: 'v6' });
    const [before, after] = await dates(list.id);
    assert.ok(before === moved && after! > moved);
    await store.updateList(workspace.id, list.id, { family: 'v4', format: 'csv_indicator' });
    assert.ok((await dates(list.id)).every((each, n) => (n === 0 ? each > after! : each === after)));
    // One that nobody has asked for before, by a clock that was set back since.
    assert.equal((await since(feed.id, 'new', second)).since, second + 5001);
  });

  test(`D37.3 Last-Modified, store ${name}: a later instant that a content was told with is that of all, unless it lies ahead`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const second = Math.floor(Date.now() / 1000) - 100;
    const since = async (hash: string, snapshotAt: number, lastModified: number) => {
      const key = { feedId: list.id, format: 'plain', family: 'v4', action: 'block' };
      return (await store.recordDocument(workspace.id, key, { hash, snapshotAt, second, lastModified })).since - second;
    };
    assert.equal(await since('a', 1000, 0), 0);
    assert.equal(await since('a', 900, second + 3), 3);
    assert.equal(await since('a', 1000, second + 2), 3);
    assert.equal(await since('a', 1000, second + 5000), 3);
    assert.equal(await since('b', 900, second + 9), 3);
    assert.equal(await since('b', 2000, second + 9), 4);
  });

  test(`D2 store ${name}: a key is found by its hash until it is revoked; every change moves the key revision`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const hash = createHash('sha256').update('weir_x').digest();
    let revision = await store.keyRevision();
    const moved = async () => {
      const now = await store.keyRevision();
      const has = now > revision;
      revision = now;
      return has;
    };
    const key = await store.createKey(workspace.id, { ...KEY, name: 'siem', hash, expiresAt: T0 });
    assert.ok(await moved());
    assert.deepEqual(await store.findCaller(hash), {
      keyId: key.id,
      workspaceId: workspace.id,
      organizationId: organization.id,
      subscription: 'active',
      permissions: ['signal:write', 'feed:read'],
      listId: null,
      feedId: null,
      guardRails: NO_GUARD_RAILS,
      sample: null,
      networks: [],
      expiresAt: T0,
    });
    assert.equal(await store.findCaller(createHash('sha256').update('other').digest()), undefined);
    await store.setSubscription(organization.id, 'inactive');
    assert.ok(await moved());
    assert.equal((await store.findCaller(hash))?.subscription, 'inactive');
    await store.touchKeys([{ id: key.id, at: T0 + 5 }]);
    assert.deepEqual(
      (await store.keys(workspace.id)).map((k) => [k.name, k.prefix, k.lastUsedAt, k.revokedAt]),
      [['siem', 'weir_x', T0 + 5, null]],
    );
    const from = ['10.0.0.0/8', '2001:db8::/32'];
    assert.deepEqual(await store.updateKey(workspace.id, key.id, { networks: from }), { ...key, lastUsedAt: T0 + 5, networks: from });
    assert.ok(await moved());
    assert.deepEqual((await store.findCaller(hash))?.networks, from, 'D24.2');
    assert.equal((await store.updateKey(workspace.id, key.id, { name: null, networks: [] })).name, null);
    assert.deepEqual((await store.key(workspace.id, key.id))?.networks, []);
    await assert.rejects(store.updateKey(randomUUID(), key.id, { name: 'theirs' }), { code: 'NOT_FOUND' });
    await moved();
    assert.equal(await store.revokeKey(key.id), true);
    assert.ok(await moved());
    assert.equal(await store.findCaller(hash), undefined);
    assert.equal(await store.revokeKey(randomUUID()), false);
  });

  test(`D7.5 store ${name}: what is set of a workspace is in its row, its callers and its snapshots, and of no other`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const hash = createHash('sha256').update('weir_x').digest();
    await store.createKey(workspace.id, { ...KEY, hash });
    assert.deepEqual(await store.updateWorkspace(workspace.id, { protect: ['private', '10.0.0.0/8'] }), {
      ...workspace,
      protect: ['private', '10.0.0.0/8'],
    });
    const guardRails = { protect: ['private', '10.0.0.0/8'], minPrefixV4: 8, minPrefixV6: 19 };
    const changed = { ...workspace, ...guardRails };
    assert.deepEqual(await store.updateWorkspace(workspace.id, { minPrefixV4: 8, minPrefixV6: 19 }), changed);
    assert.deepEqual(await store.workspaces(), [changed, other]);
    assert.deepEqual((await store.findCaller(hash))?.guardRails, guardRails);
    const head = async (id: string) => (await store.snapshot(id, null, T0, collectingSink().sink))?.guardRails;
    assert.deepEqual([await head(workspace.id), await head(other.id)], [guardRails, NO_GUARD_RAILS]);
    assert.deepEqual(await store.updateWorkspace(workspace.id, { protect: [], minPrefixV4: 0, minPrefixV6: 0 }), workspace);
    await assert.rejects(store.updateWorkspace(randomUUID(), { minPrefixV4: 8 }), { code: 'NOT_FOUND' });
  });

  test(`D2 store ${name}: deleting a list deletes its rules and revokes the keys bound to it; the default list stays`, async (t) => {
    const { store, workspace, land, targets } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const hash = createHash('sha256').update('bound').digest();
    await store.createKey(workspace.id, { ...KEY, hash, permissions: ['feed:read'], listId: list.id });
    await land([{ change: upsert(access(ip('192.0.2.1'))), listId: list.id }, upsert(access(ip('192.0.2.2')))]);
    assert.equal((await store.findCaller(hash))?.listId, list.id);
    await store.deleteList(workspace.id, list.id);
    assert.equal(await store.findCaller(hash), undefined);
    assert.deepEqual(await targets(), [formatTarget(ip('192.0.2.2'))]);
    const { rows, sink } = collectingSink();
    await store.snapshot(workspace.id, null, T0, sink);
    assert.equal(rows.length, 1);
    const defaultList = (await store.directory(workspace.id))!.lists[0];
    await assert.rejects(store.deleteList(workspace.id, defaultList.id), /default list/);
    await assert.rejects(store.deleteList(workspace.id, list.id), /no such list/);
    while ((await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 1000 })) > 0);
  });

  test(`D18.3 store ${name}: sessions are found by their hash until they end; of a key's the newest stay, and what has expired is swept`, async (t) => {
    const { store } = await fixture(t, driver);
    const [key, other] = ['key', 'other'].map((text) => createHash('sha256').update(text).digest());
    const id = (text: string) => createHash('sha256').update(`session ${text}`).digest();
    for (const [i, text] of ['a', 'b', 'c'].entries()) {
      await store.openSession(id(text), { keyHash: key, actor: `Jana ${text}`, expiresAt: T0 + i }, 2);
    }
    await store.openSession(id('d'), { keyHash: other, actor: '周', expiresAt: T0 + 9 }, 2);
    const actors = async () => Promise.all(['a', 'b', 'c', 'd'].map(async (text) => (await store.findSession(id(text)))?.actor));
    assert.deepEqual(await actors(), [undefined, 'Jana b', 'Jana c', '周']);
    const found = (await store.findSession(id('d')))!;
    assert.deepEqual([Buffer.from(found.keyHash), found.expiresAt], [other, T0 + 9]);
    await store.closeSession(id('c'));
    await store.closeSession(id('c'));
    while ((await store.sweep({ now: T0 + 5, rulesExpiredBefore: 0, auditBefore: 0, limit: 1 })) > 0);
    assert.deepEqual(await actors(), [undefined, undefined, undefined, '周']);
  });

  test(`D24.5 D24.6 D47.8 D47.9 store ${name}: a person's session is found as it was opened, renewed once, and ended by who it is or by its provider's`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const id = (text: string) => createHash('sha256').update(text).digest();
    const person = {
      provider: 'main',
      subject: 'ada',
      groups: ['a', 'b, "c"'],
      sid: 's1',
      home: workspace.id,
      openedAt: T0,
      renewAt: T0 + 5,
    };
    const session = { keyHash: id('ada'), actor: 'Ada', expiresAt: T0 + 100, person: { ...person, renewal: Buffer.from([0, 1, 255]) } };
    await store.openSession(id('one'), session, 50);
    await store.openSession(
      id('two'),
      { ...session, person: { ...session.person, sid: null, openedAt: T0 + 50, renewAt: null, renewal: null } },
      50,
    );
    const found = (await store.findSession(id('one')))!;
    const plain = ({ renewal, ...rest }: NonNullable<typeof found.person>) => ({ ...rest, renewal: renewal && [...renewal] });
    assert.deepEqual([found.actor, plain(found.person!)], ['Ada', { ...person, renewal: [0, 1, 255] }]);
    const claims = await Promise.all([1, 2, 3].map(() => store.claimRenewal(id('one'), T0 + 5, T0 + 60)));
    assert.deepEqual(claims.filter(Boolean), [true]);
    assert.equal(await store.claimRenewal(id('two'), T0 + 5, T0 + 60), false);
    await store.renewSession(id('one'), { groups: [], actor: 'Ada L.', renewAt: T0 + 70, renewal: Buffer.from([7]) });
    const renewed = (await store.findSession(id('one')))!;
    assert.deepEqual([renewed.actor, plain(renewed.person!)], ['Ada L.', { ...person, groups: [], renewAt: T0 + 70, renewal: [7] }]);

    let tokens = 0;
    const end = (more: object) => {
      tokens += 1;
      const token = { token: id(`token ${tokens}`), validUntil: Date.now() + 60_000 };
      return store.endSessions({ provider: 'main', sid: null, subject: null, openedUntil: T0 + 10, ...token, ...more });
    };
    assert.equal(await end({ subject: 'ada', provider: 'other' }), 0);
    assert.equal(await end({ sid: 's2', subject: 'ada' }), 0);
    assert.equal(await end({}), 0);
    assert.equal(await end({ sid: 's1', subject: 'eve' }), null, 'the session of somebody else');
    const again = { token: id('again'), sid: 's1', subject: 'ada' };
    assert.deepEqual([await end(again), await end(again), await end({ ...again, sid: null })], [1, null, null]);
    assert.equal(await end({ ...again, token: id('past'), validUntil: 0 }), 0);
    assert.equal(await end({ ...again, token: id('past') }), 0, 'one that is valid no more is forgotten');
    assert.equal(await end({ subject: 'ada' }), 0, 'the other was opened later');
    assert.equal(await end({ subject: 'ada', openedUntil: T0 + 50 }), 1);
    assert.equal(await store.findSession(id('two')), undefined);

    const rows = [{ role: 'operator', group: 'soc, eu', provider: null }] as const;
    assert.deepEqual((await store.updateWorkspace(workspace.id, { people: rows })).people, rows);
    assert.deepEqual((await store.workplace(workspace.id))?.people, rows);
    assert.equal(await store.workplace(randomUUID()), undefined);
    const seen = (n: number, lastSeen: number) => ({ id: `main:${n}`, name: `P ${n}`, role: 'viewer', lastSeen }) as const;
    for (const [n, at] of [
      [1, T0],
      [2, T0 + 2],
      [1, T0 + 3],
    ] as const)
      await store.seePerson(workspace.id, seen(n, at));
    await store.seePerson(randomUUID(), seen(3, T0));
    assert.deepEqual(await store.people(workspace.id), [seen(1, T0 + 3), seen(2, T0 + 2)]);
    while ((await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: T0 + 3, limit: 1 })) > 0);
    assert.deepEqual(await store.people(workspace.id), [seen(1, T0 + 3)]);
  });

  test(`D4 retention, store ${name}: sweep deletes in slices what is past its time and nothing else`, async (t) => {
    const { store, land, rules } = await fixture(t, driver);
    await land([
      ...Array.from({ length: 25 }, (_, i) => upsert(access(ip(`192.0.2.${i}`), { expiresAt: T0 + 1000 }))),
      upsert(access(ip('198.51.100.1'), { expiresAt: T0 + 9000 })),
      upsert(access(ip('198.51.100.2'))),
      { change: 'upsert', kind: 'waf_rule', rule: waf('old', { expiresAt: T0 + 1000 }) },
      { change: 'upsert', kind: 'waf_rule', rule: waf('new') },
    ]);
    const slice = (rulesExpiredBefore = T0 + 5000) => store.sweep({ now: T0 + 5000, rulesExpiredBefore, auditBefore: 0, limit: 10 });
    assert.equal(await slice(T0 + 1), 1, 'the batch');
    assert.equal(await slice(), 11);
    assert.equal(await slice(), 10);
    assert.equal(await slice(), 5);
    assert.equal(await slice(), 0);
    assert.deepEqual((await rules('access_rule', 0)).length, 2);
    assert.deepEqual(
      (await rules('waf_rule', 0)).map((r) => r.rule.ruleRef),
      ['new'],
    );
  });

  test(`D2 bootstrap, store ${name}: makes default organization, workspace, list and key once; a revoked key stays revoked`, async (t) => {
    const { store } = await driver.open(t);
    const hash = createHash('sha256').update('bootstrap').digest();
    const first = await store.bootstrap({ hash, prefix: 'boot', onlyWhenEmpty: true });
    assert.equal(first.created, true);
    const caller = await store.findCaller(hash);
    assert.deepEqual(caller?.permissions, [
      'signal:write',
      'feed:read',
      'manage',
      'rules:read',
      'config:read',
      'rules:write',
      'keys:write',
    ]);
    assert.deepEqual(
      (await store.workspaces()).map((w) => w.name),
      ['default'],
    );
    assert.deepEqual(
      (await store.organizations()).map((o) => o.name),
      ['default'],
    );
    assert.deepEqual(
      (await store.directory(first.workspaceId))?.lists.map((l) => [l.name, l.isDefault]),
      [['default', true]],
    );
    const other = createHash('sha256').update('other').digest();
    assert.deepEqual(await store.bootstrap({ hash: other, prefix: 'o', onlyWhenEmpty: true }), {
      workspaceId: first.workspaceId,
      created: false,
    });
    assert.equal(await store.findCaller(other), undefined);
    await store.revokeKey(caller!.keyId);
    assert.equal((await store.bootstrap({ hash, prefix: 'boot', onlyWhenEmpty: false })).created, false);
    assert.equal(await store.findCaller(hash), undefined);
    assert.equal((await store.bootstrap({ hash: other, prefix: 'o', onlyWhenEmpty: false })).created, true);
    assert.equal((await store.workspaces()).length, 1);
  });

  test(`D2.1 store ${name}: what is not there is NOT_FOUND in one sentence, and nothing is written`, async (t) => {
    const { store, organization, workspace, query } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const list = await store.createList(other.id, 'edge', NO_SETTINGS);
    const content = async () => {
      const tables = ['organizations', 'workspaces', 'lists', 'keys', 'counters', 'audit', 'feed_records', 'deleted_lists'];
      return JSON.stringify(await Promise.all(tables.map((table) => query(`SELECT * FROM ${table} ORDER BY 1`))));
    };
    const before = await content();
    const id = randomUUID();
    const feed = { feedId: list.id, format: 'plain', family: 'v4', action: 'block' };
    const seen = { hash: 'x', snapshotAt: 1, second: 1 };
    const calls: [call: () => Promise<unknown>, message: string][] = [
      [() => store.setSubscription(id, 'inactive'), `there is no such organization: ${id}`],
      [() => store.createWorkspace(id, 'x'), `there is no such organization: ${id}`],
      [() => store.createKey(id, { ...KEY, hash: Buffer.alloc(32) }), `there is no such workspace: ${id}`],
      [() => store.createList(id, 'x', NO_SETTINGS), `there is no such workspace: ${id}`],
      [() => store.updateList(id, list.id, {}), `there is no such workspace: ${id}`],
      [() => store.deleteList(id, list.id), `there is no such workspace: ${id}`],
      [() => store.restoreLists(id, []), `there is no such workspace: ${id}`],
      [() => store.restoreKeys(id, []), `there is no such workspace: ${id}`],
      [() => store.updateList(workspace.id, id, {}), `there is no such list: ${id}`],
      [() => store.updateList(workspace.id, list.id, {}), `there is no such list: ${list.id}`],
      [() => store.deleteList(workspace.id, list.id), `there is no such list: ${list.id}`],
      [() => store.recordDocument(workspace.id, feed, seen), 'the feed was deleted'],
      [() => store.recordDocument(id, { ...feed, feedId: null }, seen), 'the feed was deleted'],
    ];
    for (const [call, message] of calls) await assert.rejects(call(), { code: 'NOT_FOUND', message });
    assert.equal(await store.revokeKey(id), false);
    assert.equal(await store.dropDeadLetter(1), false);
    await store.touchKeys([{ id, at: T0 }]);
    assert.equal(await content(), before);
  });

  test(`D2 store ${name}: every change of an account has its row in the audit log, in the order of the changes`, async (t) => {
    const { store, query, organization, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const key = await store.createKey(workspace.id, { ...KEY, hash: Buffer.alloc(32) });
    await land([upsert(access(ip('192.0.2.1')))]);
    await store.touchKeys([{ id: key.id, at: T0 }]);
    await store.setSubscription(organization.id, 'inactive');
    await store.updateList(workspace.id, list.id, { family: 'v4' });
    await store.restoreLists(workspace.id, [{ ...EDGE, id: randomUUID() }]);
    await store.restoreKeys(workspace.id, []);
    await store.revokeKey(key.id);
    await store.deleteList(workspace.id, list.id);
    await store.adoptStream('another');
    const first = await store.bootstrap({ hash: Buffer.alloc(32, 1), prefix: 'b', onlyWhenEmpty: false });
    const rows = await query('SELECT at, event, object FROM audit ORDER BY id');
    const ids = new Map<unknown, string>([
      [organization.id, 'organization'],
      [workspace.id, 'workspace'],
      [list.id, 'list'],
      [key.id, 'key'],
      [first.workspaceId, 'default workspace'],
    ]);
    assert.deepEqual(
      rows.map(({ event, object }) => `${event}: ${ids.get(object) ?? '?'}`),
      [
        'organization created: organization',
        'list created: ?',
        'workspace created: workspace',
        'list created: list',
        'key created: key',
        'subscription set to inactive: organization',
        'list changed: list',
        'lists restored: workspace',
        'keys restored: workspace',
        'key revoked: key',
        'list deleted: list',
        'stream adopted: ?',
        'organization created: ?',
        'list created: ?',
        'workspace created: default workspace',
        'key created: ?',
      ],
    );
    for (const { at } of rows) assert.ok(Math.abs(Number(at) - (await store.ping())) < 60_000);
  });

  test(`2.6 store ${name}: each change moves the revisions that it concerns by one, and no other`, async (t) => {
    const { store, organization, workspace, land } = await fixture(t, driver);
    const hash = createHash('sha256').update('a').digest();
    let last: Record<string, number> = {};
    const state = async () => {
      const directory = (await store.directory(workspace.id))!;
      const lists = directory.lists.map((list) => [list.name, list.revision] as const);
      const rest = { workspace: directory.revision, keys: await store.keyRevision() };
      return { ...Object.fromEntries<number>(lists), ...rest } as Record<string, number>;
    };
    /** What moved, and by how much; a new list moves from 0. */
    const moves = async (change: () => Promise<unknown>) => {
      await change();
      const now = await state();
      const moved = Object.entries(now).filter(([what, revision]) => revision !== (last[what] ?? 0));
      const by = Object.fromEntries(moved.map(([what, revision]) => [what, revision - (last[what] ?? 0)]));
      last = now;
      return by;
    };
    assert.deepEqual(await moves(async () => {}), { workspace: 1, keys: 1, default: 1 });
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    assert.deepEqual(await moves(async () => {}), { workspace: 1, edge: 1 });
    const key = await store.createKey(workspace.id, { ...KEY, hash });
    assert.deepEqual(await moves(async () => {}), { keys: 1 });
    const change = upsert(access(ip('192.0.2.1')));
    assert.deepEqual(await moves(() => land([change, change, { change, listId: list.id }])), { workspace: 1, default: 1, edge: 1 });
    assert.deepEqual(await moves(() => land([{ change: 'upsert', kind: 'waf_rule', rule: waf('w') }])), {});
    assert.deepEqual(await moves(() => store.updateList(workspace.id, list.id, {})), { workspace: 1, edge: 1 });
    assert.deepEqual(await moves(() => store.updateWorkspace(workspace.id, {})), { workspace: 1, default: 1, edge: 1, keys: 1 });
    assert.deepEqual(await moves(() => store.touchKeys([{ id: key.id, at: T0 }])), {});
    assert.deepEqual(await moves(() => store.setSubscription(organization.id, 'active')), { keys: 1 });
    assert.deepEqual(await moves(() => store.restoreLists(workspace.id, [{ ...EDGE, id: list.id }])), { workspace: 1, edge: 1, keys: 1 });
    assert.deepEqual(await moves(() => store.restoreKeys(workspace.id, [])), { keys: 1 });
    assert.deepEqual(await moves(() => store.revokeKey(key.id)), { keys: 1 });
    assert.deepEqual(await moves(() => store.revokeKey(key.id)), { keys: 1 });
    assert.deepEqual(await moves(() => store.createWorkspace(organization.id, 'other')), {});
    assert.deepEqual(await moves(() => store.deleteList(workspace.id, list.id)), { workspace: 1, keys: 1 });
  });

  test(`2.6 store ${name}: changes and landings at the same time: each is whole, and none is lost`, async (t) => {
    const { store, again, workspace, land, targets } = await fixture(t, driver);
    const other = await again();
    const before = (await store.directory(workspace.id))!.revision;
    const landings = async () => {
      for (let n = 0; n < 20; n += 1) await land([upsert(access(ip(`192.0.2.${n}`)))]);
    };
    const lists = Array.from({ length: 20 }, async (_, n) => {
      const owner = n % 2 === 0 ? store : other;
      const { id } = await owner.createList(workspace.id, `list ${n}`, NO_SETTINGS);
      await Promise.all([store.updateList(workspace.id, id, { family: 'v4' }), other.updateList(workspace.id, id, { action: 'allow' })]);
      if (n % 4 === 0) await owner.deleteList(workspace.id, id);
    });
    const sweeps = async () => {
      for (let n = 0; n < 10; n += 1) await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 });
    };
    await Promise.all([landings(), sweeps(), ...lists]);
    const after = (await store.directory(workspace.id))!;
    assert.equal(after.revision - before, 20 + 20 * 3 + 5);
    assert.equal((await targets()).length, 20);
    assert.deepEqual(
      after.lists.filter((list) => !list.isDefault).map(({ family, action, revision }) => [family, action, revision]),
      Array.from({ length: 15 }, () => ['v4', 'allow', 3]),
    );
  });

  test(`D2 store ${name}: keys are listed by age, then id; the last use only moves forward, of any number of keys at once`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const keys = Array.from({ length: 2500 }, (_, n): SavedKey => {
      const hash = createHash('sha256').update(`${n}`).digest();
      return { ...KEY, id: randomUUID(), hash, createdAt: T0 + (n % 3), revokedAt: null, lastUsedAt: n % 2 === 0 ? T0 + 5 : null };
    });
    await store.restoreKeys(workspace.id, keys);
    const byAge = keys.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    const ids = async () => (await store.keys(workspace.id)).map(({ id }) => id);
    assert.deepEqual(
      await ids(),
      byAge.map(({ id }) => id),
    );
    await store.touchKeys([]);
    const unknown = Array.from({ length: 33_000 }, () => ({ id: randomUUID(), at: T0 + 9 }));
    await store.touchKeys([...unknown, ...keys.map(({ id }, n) => ({ id, at: n < 10 ? T0 + 9 : T0 + 3 }))]);
    const used = new Map((await store.keys(workspace.id)).map(({ id, lastUsedAt }) => [id, lastUsedAt]));
    assert.deepEqual(
      keys.map(({ id }) => used.get(id)),
      keys.map((_, n) => T0 + (n < 10 ? 9 : n % 2 === 0 ? 5 : 3)),
    );
  });

  test(`D4.9 store ${name}: sweep deletes the rules and feed records of a deleted list, of one list after the other`, async (t) => {
    const { store, workspace, land, query } = await fixture(t, driver);
    const lists = await Promise.all(['a', 'b', 'kept'].map((each) => store.createList(workspace.id, each, NO_SETTINGS)));
    const targets = Array.from({ length: 20 }, (_, n) => upsert(access(ip(`192.0.2.${n}`))));
    for (const { id } of lists) {
      await land(targets.map((change) => ({ change, listId: id })));
      await store.recordDocument(
        workspace.id,
        { feedId: id, format: 'plain', family: 'v4', action: 'block' },
        { hash: 'x', snapshotAt: 1, second: 1 },
      );
    }
    const workspaceFeed = { feedId: null, format: 'plain', family: 'v4', action: 'block' };
    await store.recordDocument(workspace.id, workspaceFeed, { hash: 'x', snapshotAt: 1, second: 1 });
    await store.deleteList(workspace.id, lists[0].id);
    await store.deleteList(workspace.id, lists[1].id);
    const swept: number[] = [];
    do swept.push(await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 }));
    while (swept.at(-1) !== 0);
    assert.deepEqual(swept, [10, 11, 10, 11, 0]);
    const left = await query('SELECT count(*) AS n FROM access_rules UNION ALL SELECT count(*) FROM feed_records');
    assert.deepEqual(
      left.map(({ n }) => Number(n)),
      [20, 2],
    );
  });

  test(`D4 moving, store ${name}: the rules of a workspace are counted, all kinds and lists, expired ones at 0 only`, async (t) => {
    const { store, organization, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    assert.equal(await store.countRules(workspace.id, 0), 0);
    await land([
      upsert(access(ip('192.0.2.1'))),
      { change: upsert(access(ip('192.0.2.1'), { expiresAt: T0 + 60_000 })), listId: list.id },
      { change: 'upsert', kind: 'waf_rule', rule: waf('w') },
      { change: 'upsert', kind: 'waf_rule', rule: waf('x', { expiresAt: T0 + 1000 }) },
      { change: 'upsert', kind: 'smart_firewall_rule', rule: waf('w') },
    ]);
    assert.equal(await store.countRules(workspace.id, T0), 5);
    assert.equal(await store.countRules(workspace.id, T0 + 60_000), 3);
    assert.equal(await store.countRules(workspace.id, 0), 5);
    const other = await store.createWorkspace(organization.id, 'other');
    assert.equal(await store.countRules(other.id, 0), 0);
    assert.equal(await store.countRules(randomUUID(), 0), 0);
  });

  test(`D4 moving, store ${name}: lists are restored with their ids and settings; the default one is the workspace's own`, async (t) => {
    const { store, organization, workspace } = await fixture(t, driver);
    const bound = createHash('sha256').update('bound').digest();
    const before = (await store.directory(workspace.id))!;
    await store.createKey(workspace.id, { ...KEY, hash: bound, listId: before.lists[0].id });
    const keyRevision = await store.keyRevision();
    const main = { ...NO_SETTINGS, id: randomUUID(), name: 'main list', description: 'all', isDefault: true, severity: 'low' } as const;
    const edge = { ...EDGE, id: randomUUID() };
    const ids = await store.restoreLists(workspace.id, [main, edge]);
    assert.deepEqual(
      [...ids],
      [
        [main.id, main.id],
        [edge.id, edge.id],
      ],
    );
    const after = (await store.directory(workspace.id))!;
    assert.ok(after.revision > before.revision);
    assert.ok(after.lists[0].revision > before.lists[0].revision);
    assert.deepEqual(after.lists.map(savedList), [main, edge]);
    assert.equal((await store.findCaller(bound))?.listId, main.id);
    assert.ok((await store.keyRevision()) > keyRevision);

    // Once more with other settings: the same lists.
    const changed = { ...edge, name: 'brink', maxEntries: null };
    await store.restoreLists(workspace.id, [main, changed]);
    assert.deepEqual((await store.directory(workspace.id))!.lists.map(savedList), [main, changed]);

    // In another workspace the ids are taken.
    const other = await store.createWorkspace(organization.id, 'other');
    const otherDefault = (await store.directory(other.id))!.lists[0].id;
    const otherIds = await store.restoreLists(other.id, [edge, main]);
    assert.equal(otherIds.get(main.id), otherDefault);
    assert.ok(![main.id, edge.id, otherDefault].includes(otherIds.get(edge.id)!));
    assert.deepEqual((await store.directory(other.id))!.lists.map(savedList), [
      { ...main, id: otherDefault },
      { ...edge, id: otherIds.get(edge.id) },
    ]);
    assert.deepEqual((await store.directory(workspace.id))!.lists.map(savedList), [main, changed]);
    await assert.rejects(store.restoreLists(randomUUID(), [main]), /no such workspace/);
  });

  test(`D4 moving, store ${name}: keys are restored with hash, list, expiry and revocation; a hash that is known stays`, async (t) => {
    const { store, organization, workspace } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const saved = (text: string, more: Partial<SavedKey> = {}): SavedKey => ({
      ...KEY,
      id: randomUUID(),
      hash: createHash('sha256').update(text).digest(),
      createdAt: T0,
      revokedAt: null,
      lastUsedAt: null,
      ...more,
    });
    const keys = [
      saved('a', { name: 'näme', expiresAt: T0 + 5000, lastUsedAt: T0 + 7 }),
      saved('b', { listId: list.id, permissions: ['feed:read'], networks: ['192.0.2.0/24', '2001:db8::/48'], createdAt: T0 + 1 }),
      saved('c', { revokedAt: T0 + 9, createdAt: T0 + 2 }),
    ];
    const revision = await store.keyRevision();
    assert.deepEqual(await store.restoreKeys(workspace.id, keys), []);
    assert.ok((await store.keyRevision()) > revision);
    const plain = (all: readonly SavedKey[]) => all.map((key) => ({ ...key, hash: Buffer.from(key.hash).toString('hex') }));
    assert.deepEqual(plain(await store.savedKeys(workspace.id)), plain(keys));
    assert.equal((await store.findCaller(keys[0].hash))?.keyId, keys[0].id);
    assert.equal((await store.findCaller(keys[1].hash))?.listId, list.id);
    assert.equal(await store.findCaller(keys[2].hash), undefined);

    const other = await store.createWorkspace(organization.id, 'other');
    const sameId = { ...saved('d'), id: keys[0].id };
    assert.deepEqual(await store.restoreKeys(other.id, [keys[0], sameId, { ...keys[2], revokedAt: null }]), [keys[0].id, keys[2].id]);
    assert.equal((await store.findCaller(keys[0].hash))?.workspaceId, workspace.id);
    assert.equal(await store.findCaller(keys[2].hash), undefined);
    const [moved, ...none] = await store.savedKeys(other.id);
    assert.deepEqual(none, []);
    assert.notEqual(moved.id, keys[0].id);
    assert.equal((await store.findCaller(sameId.hash))?.workspaceId, other.id);
    await assert.rejects(store.restoreKeys(randomUUID(), keys), /no such workspace/);
  });

  test(`D1 store ${name}: migrating twice and from several handles at once is safe`, async (t) => {
    const { store, again } = await driver.open(t);
    const others = await Promise.all([again(), again(), again()]);
    const results = await Promise.all([store, ...others].map((s) => s.migrate()));
    assert.deepEqual(
      results.map((r) => r.applied),
      [[], [], [], []],
    );
    assert.ok(Math.abs((await store.ping()) - Date.now()) < 60_000);
  });
}

/** What a store tells of what has changed, against a plain model: what each sender did to the rules of each list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { Store } from '../../src/ports/store.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { formatTarget } from '../../src/signal/target.ts';
import { seededRandom } from '../support/random.ts';
import { access, collectingSink, fixture, ip, type StoreDriver, T0, upsert, waf } from './store.ts';

const MINUTE = 60_000;
const COUNTS = ['added', 'renewed', 'removed', 'expired'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;
const ROUNDS = Number(process.env.CHANGES_ROUNDS ?? 12);

const byId = (a: { readonly id: number }, b: { readonly id: number }) => a.id - b.id;

/** The rules of a list that are active. */
async function snapshotOf(store: Store, workspaceId: string, listId: string, now: number) {
  const { rows, sink } = collectingSink();
  await store.snapshot(workspaceId, listId, now, sink);
  return rows.sort(byId);
}

export function changesConformance(driver: StoreDriver): void {
  test(`D32.2, D32.6, D53.4 store ${driver.name}: who did what to the rules of each list is counted as in a plain model, and what they were is known`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const random = seededRandom(32);
    const lists = [
      (await store.createList(workspace.id, 'one', NO_SETTINGS)).id,
      (await store.createList(workspace.id, 'two', NO_SETTINGS)).id,
    ];
    const wanted = new Map<string, Counts>();
    const count = (list: string | null, sender: string, more: Partial<Counts>) => {
      const key = `${list} ${sender}`;
      const known = wanted.get(key) ?? { added: 0, renewed: 0, removed: 0, expired: 0 };
      for (const name of COUNTS) known[name] += more[name] ?? 0;
      wanted.set(key, known);
    };
    /** By list: the targets that have a rule, with its expiry and who wrote it last. */
    const read = async (now: number) => {
      const found = new Map<string, { list: string; target: string; seq: number; id: number }>();
      for (const { listId, rule, seq, id } of await rules('access_rule', now))
        found.set(`${listId} ${id}`, { list: listId!, target: 'target' in rule ? formatTarget(rule.target) : '', seq, id });
      return found;
    };
    const batches: string[] = [];
    let now = T0;
    let counted = T0;
    const moments: { readonly at: number; readonly lists: readonly object[][] }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      now += random.below(4) * MINUTE + 1000;
      const isUndo = batches.length > 2 && random.below(3) === 0;
      const senders = isUndo ? ['undoer'] : ['key-a', 'key-b', 'key-c'].slice(0, 1 + random.below(3));
      const before = await read(counted);
      const senderOf = new Map<string, string>();
      const items: Partial<LandingItem>[] = [];
      for (const [n, keyId] of senders.entries()) {
        const batchId = newBatchId(now + n);
        if (isUndo) {
          const last = batches.pop()!;
          items.push({ change: { change: 'undo', batchId: last }, batchId, keyId });
          continue;
        }
        batches.push(batchId);
        const list = random.pick(lists);
        for (const host of new Set(Array.from({ length: 1 + random.below(9) }, () => random.below(12)))) {
          const target = ip(`192.0.2.${n * 16 + host}`);
          senderOf.set(`${list} ${formatTarget(target)}`, keyId);
          const [known] = [...before.values()].filter((each) => each.list === list && each.target === formatTarget(target));
          const change =
            random.below(3) > 0
              ? upsert(access(target, { expiresAt: random.below(2) === 0 ? now + (1 + random.below(9)) * MINUTE : null, reason: keyId }))
              : known !== undefined && random.below(2) === 0
                ? ({ change: 'delete_rules', kind: 'access_rule', ids: [known.id] } as const)
                : ({ change: 'delete_by_value', kind: 'access_rule', action: 'block', target } as const);
          items.push({ change, listId: list, batchId, keyId });
        }
      }
      // What senders send is mixed on the way, each in its order.
      if (!isUndo) items.sort((a, b) => (a.keyId === b.keyId ? 0 : random.below(3) - 1));
      await land(items, now);
      moments.push({ at: now, lists: await Promise.all(lists.map((id) => snapshotOf(store, workspace.id, id, now))) });
      const after = await read(counted);
      for (const id of new Set([...before.keys(), ...after.keys()])) {
        const [was, is] = [before.get(id), after.get(id)];
        const { list, target } = (is ?? was)!;
        const sender = isUndo ? 'undoer' : senderOf.get(`${list} ${target}`);
        if (was === undefined) count(list, sender!, { added: 1 });
        else if (is === undefined) count(list, sender!, { removed: 1 });
        else if (is.seq !== was.seq) count(list, sender!, { renewed: 1 });
      }
      if (random.below(2) === 0) {
        const there = await read(counted);
        await store.sweep({ now, rulesExpiredBefore: 0, auditBefore: 0, limit: 1000 });
        counted = now;
        const left = await read(counted);
        for (const [id, { list }] of there) if (!left.has(id)) count(list, 'nobody', { expired: 1 });
      }
    }
    const present = await read(counted);
    const { now: totals, nets, since } = await store.ruleDays(workspace.id, 0);
    for (const id of lists) {
      const active = [...present.values()].filter(({ list }) => list === id).length;
      const grown = nets.filter(({ listId }) => listId === id).reduce((sum, { net }) => sum + net, 0);
      assert.deepEqual([totals.find(({ listId }) => listId === id)?.rules ?? 0, grown, since], [active, active, 0]);
    }
    for (const { at, lists: were } of moments) {
      const place = await store.placeAt(workspace.id, at);
      for (const [i, id] of lists.entries()) {
        const { rows, sink } = collectingSink();
        await store.rulesAt(workspace.id, id, place, sink);
        const active = rows.filter(({ expires }) => expires === 0 || expires * 1000 > at);
        assert.deepEqual(active.sort(byId), were[i], `list ${i} at ${at - T0}`);
      }
    }
    assert.deepEqual([await store.placeAt(workspace.id, T0 - 1), await store.rulesKnownSince(workspace.id)], [0, 0]);
    const told = new Map<string, Counts>();
    const from = Math.floor(T0 / MINUTE);
    let spans = 0;
    for (let to = Math.floor(now / MINUTE) + 1; ; ) {
      const found = await store.ruleChanges(workspace.id, { from, to, span: 6 });
      if (found === undefined) break;
      spans += 1;
      assert.ok(found.from < found.to && found.to <= to && found.to - found.from <= 6);
      for (const sum of found.sums) {
        assert.ok(found.from <= sum.first && sum.first <= sum.last && sum.last < found.to);
        assert.ok(COUNTS.some((name) => sum[name] > 0));
        const key = `${sum.list?.id} ${sum.by?.keyId ?? 'nobody'}`;
        const known = told.get(key) ?? { added: 0, renewed: 0, removed: 0, expired: 0 };
        for (const name of COUNTS) known[name] += sum[name];
        told.set(key, known);
      }
      to = found.from;
    }
    assert.ok(spans > 2);
    assert.deepEqual(new Map([...told].sort()), new Map([...wanted].sort()));
    const hours = await store.ruleHours(workspace.id, { from: Math.floor(T0 / 3_600_000), to: Math.floor(now / 3_600_000) });
    const sums = (all: readonly Counts[]) => COUNTS.map((name) => all.reduce((sum, each) => sum + each[name], 0));
    assert.deepEqual(sums(hours), sums([...wanted.values()]));
  });

  test(`D32.2, D32.4 store ${driver.name}: changes name batch, reason and list as long as there is one, and go after seven days`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const from = Math.floor(T0 / MINUTE);
    const [one, two] = [newBatchId(T0), newBatchId(T0 + 1)];
    const block = (n: number, reason: string, batchId: string) => ({
      change: upsert(access(ip(`192.0.2.${n}`), { reason })),
      ...{ listId: list.id, batchId, keyId: 'k', actor: 'Jana' },
    });
    const sums = async () => (await store.ruleChanges(workspace.id, { from, to: from + 60, span: 60 }))?.sums ?? [];
    await land([block(1, 'scan', one), block(2, 'scan', one)]);
    assert.deepEqual(await sums(), [
      {
        ...{ kind: 'access_rule', list: { id: list.id, name: 'edge' }, first: from, last: from },
        by: { keyId: 'k', actor: 'Jana', personId: null, sourceId: null, undoes: null },
        ...{ added: 2, renewed: 0, removed: 0, expired: 0, batchId: one, reason: 'scan' },
      },
    ]);
    await land([block(3, 'scan', one)], T0 + MINUTE);
    assert.deepEqual(
      (await sums()).map(({ added, batchId, reason, last }) => [added, batchId, reason, last - from]),
      [[3, one, 'scan', 1]],
    );
    await land([block(4, 'spam', two)], T0 + MINUTE);
    assert.deepEqual(
      (await sums()).map(({ added, batchId, reason }) => [added, batchId, reason]),
      [[4, undefined, undefined]],
    );

    await land([{ change: { change: 'upsert', kind: 'waf_rule', rule: waf('w', { expiresAt: T0 + 3 * MINUTE }) } }], T0 + 2 * MINUTE);
    await land([{ change: { change: 'undo', batchId: one }, batchId: newBatchId(T0) }], T0 + 2 * MINUTE);
    await store.sweep({ now: T0 + 4 * MINUTE, rulesExpiredBefore: 0, auditBefore: 0, limit: 9 });
    await store.deleteList(workspace.id, list.id, {});
    const shown = (await sums()).map(({ kind, list: of, by, added, removed, expired }) => [
      kind,
      of?.name ?? null,
      by?.undoes ?? null,
      added,
      removed,
      expired,
    ]);
    assert.deepEqual(
      new Set(shown),
      new Set([
        ['access_rule', 'edge', null, 4, 0, 0],
        ['access_rule', 'edge', one, 0, 3, 0],
        ['waf_rule', null, null, 1, 0, 0],
        ['waf_rule', null, null, 0, 0, 1],
      ]),
    );
    assert.equal((await store.historyStart(workspace.id)).rules, 0, 'nothing had landed before the schema counted');
    await store.sweep({ now: T0 + 9 * MINUTE, rulesExpiredBefore: T0 + 9 * MINUTE, auditBefore: 0, limit: 99 });
    assert.deepEqual(await sums(), []);
  });

  test(`D32.3 store ${driver.name}: what many senders did in one minute is added up in steps of few rows, all of it`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const from = Math.floor(T0 / MINUTE);
    const SENDERS = 1100;
    const sent = Array.from({ length: SENDERS }, (_, n) => ({
      change: upsert(access(ip(`10.0.${n >> 8}.${n & 255}`), { reason: 'scan' })),
      ...{ listId: list.id, batchId: newBatchId(T0), keyId: `k${n}` },
    }));
    await land(sent);
    await land(sent.slice(0, 10), T0 + MINUTE);
    let steps = 0;
    const found = await store.ruleChanges(workspace.id, { from, to: from + 60, span: 60 }, async (work) => {
      steps += 1;
      return work();
    });
    assert.equal(steps, 2);
    const told = new Map(found!.sums.map(({ by, ...sum }) => [by!.keyId, sum]));
    assert.equal(told.size, SENDERS);
    for (const [n, { keyId }] of sent.entries()) {
      const { added, renewed, first, last } = told.get(keyId)!;
      assert.deepEqual([added, renewed, first - from, last - from], n < 10 ? [1, 1, 0, 1] : [1, 0, 0, 0]);
    }
  });
}

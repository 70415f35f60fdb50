/** What a store tells of what has changed, against a plain model: what each sender did to the rules of each list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { DAY } from '../../src/clock.ts';
import { repeatTexts } from '../../src/manage/rules/repeats.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { Store } from '../../src/ports/store.ts';
import type { StoredRule } from '../../src/ports/stored/stored-rule.ts';
import type { AccessRule } from '../../src/rule.ts';
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

  test(`D56.1, D56.2, D56.3, D56.8 store ${driver.name}: a random history gives the expiries of a plain model, in steps of any size and in a replay`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const replayed = await store.createWorkspace(organization.id, 'replayed');
    const random = seededRandom(56);
    const [factor, within, upTo] = [3, 2 * DAY, 5 * DAY];
    const settings = { ...NO_SETTINGS, repeat: 'x3 within 2d up to 5d' };
    const lists = [(await store.createList(workspace.id, 'one', settings)).id, (await store.createList(replayed.id, 'one', settings)).id];
    const states = new Map<string, { blocks: number; end: number }>();
    const expiries = new Map<string, number>();
    const history: Partial<LandingItem>[] = [];
    const met = { first: 0, renewed: 0, further: 0 };
    let receivedAt = T0;
    for (let n = 0; n < 400; n++) {
      // Acceptance times of two processes: now and then one is earlier.
      receivedAt += random.pick([0, 1, 500, 3_600_000, 20_000_000]) - random.below(2);
      const target = `192.0.2.${random.below(6)}`;
      const state = states.get(target);
      const what = random.below(10);
      if (what < 7) {
        const sent = random.pick([60_000, 3_600_000, DAY, 6 * DAY]);
        const expiresAt = Math.ceil((receivedAt + sent) / 1000) * 1000;
        const isFirst = state === undefined || receivedAt > state.end + within;
        const isRenewal = !isFirst && receivedAt < state.end;
        met[isFirst ? 'first' : isRenewal ? 'renewed' : 'further'] += 1;
        const blocks = isFirst ? 1 : isRenewal ? state.blocks : state.blocks + 1;
        const given = expiresAt - Math.ceil(receivedAt / 1000) * 1000;
        const end = Math.ceil((receivedAt + Math.max(given, Math.min(upTo, given * factor ** (blocks - 1)))) / 1000) * 1000;
        states.set(target, { blocks, end });
        expiries.set(target, end);
        history.push({ receivedAt, change: upsert(access(ip(target), { expiresAt })) });
      } else {
        const isOfPerson = what === 9;
        if (isOfPerson) states.delete(target);
        else if (state !== undefined) states.set(target, { ...state, end: Math.min(state.end, receivedAt) });
        expiries.delete(target);
        const change = { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip(target) } as const;
        history.push({ receivedAt, change, ...(isOfPerson && { actor: 'ann' }) });
      }
    }
    assert.ok(Math.min(met.first, met.renewed, met.further) > 20, JSON.stringify(met));
    for (const [i, workspaceId] of [workspace.id, replayed.id].entries()) {
      for (let from = 0; from < history.length; ) {
        const size = 1 + random.below(i === 0 ? 8 : 150);
        await land(history.slice(from, from + size).map((item) => ({ ...item, workspaceId, listId: lists[i]! })));
        from += size;
      }
      const found = await Array.fromAsync(store.rules(workspaceId, { kind: 'access_rule', now: 0 }));
      const ends = found.map(({ rule }) => [formatTarget((rule as AccessRule).target), rule.expiresAt] as const);
      assert.deepEqual(new Map(ends.sort()), new Map([...expiries].sort()), `workspace ${i}`);
    }
  });

  test(`D56.2, D56.4, D56.5 store ${driver.name}: source refreshes do not count, an undone block neither, and an expiry set by id is left alone`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'one', { ...NO_SETTINGS, repeat: 'x10 within 30d up to 30d' });
    const at = (hours: number) => T0 + hours * 3_600_000;
    const block = (hours: number, more: Partial<LandingItem> = {}): Partial<LandingItem> => ({
      ...{ listId: list.id, receivedAt: at(hours), ...more },
      change: upsert(access(ip('192.0.2.1'), { expiresAt: at(hours + 1) })),
    });
    const expiry = async () => (await rules('access_rule', 0, list.id)).map(({ rule }) => rule.expiresAt);
    await land([block(0)]);
    await land([block(2, { sourceId: 'another' })]);
    assert.deepEqual(await expiry(), [at(1)]);
    const undone = newBatchId(at(3));
    await land([block(3, { batchId: undone })]);
    assert.deepEqual(await expiry(), [at(13)]);
    await land([{ change: 'undo', batchId: undone }], at(4));
    await land([block(20)]);
    assert.deepEqual(await expiry(), [at(30)], 'the second block, not the third');
    const [{ id }] = (await rules('access_rule', 0, list.id)) as [StoredRule];
    const set = { change: 'set_rules', kind: 'access_rule', ids: [id], expiresAt: at(21) } as const;
    await land([{ listId: list.id, receivedAt: at(20), change: set }]);
    assert.deepEqual(await expiry(), [at(21)]);
    await land([block(21.5, { hasEnd: true })]);
    assert.deepEqual(await expiry(), [at(22.5)], 'an end that was given counts as a block');
    await land([block(23)]);
    assert.deepEqual(await expiry(), [at(23 + 720)]);
    const stored = await rules('access_rule', 0, list.id);
    const texts = await repeatTexts(store, workspace.id, stored);
    assert.deepEqual([...texts.values()], ['fourth block, each within 30 days: 30 days instead of one hour']);
  });

  test(`D56.4, D56.6, D56.7 store ${driver.name}: an undo takes back the counts of its own entries among others, also after a move`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const settings = { ...NO_SETTINGS, repeat: 'x10 within 30d up to 30d' };
    const [one, two] = [await store.createList(workspace.id, 'one', settings), await store.createList(workspace.id, 'two', settings)];
    const [undone, other] = [newBatchId(T0), newBatchId(T0 + 1)];
    const at = (hours: number) => T0 + hours * 3_600_000;
    const hosts = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const blocks = (hours: number, more: Partial<LandingItem> = {}, ends = hours + 1) =>
      hosts.map((host, i) => ({
        ...{ listId: one.id, receivedAt: at(hours), batchId: i === 1 ? other : undone, ...more },
        change: upsert(access(ip(host), { expiresAt: at(ends) })),
      }));
    const durations = async (list: string) =>
      (await rules('access_rule', 0, list)).map(({ rule, updatedAt }) => (rule.expiresAt! - updatedAt) / 3_600_000);
    await land(blocks(0, { batchId: null }));
    await land(blocks(2));
    assert.deepEqual(await durations(one.id), [10, 10, 10]);
    const page = await store.repeatPage(workspace.id, one.id, { after: null, limit: 2, now: at(3) });
    const rest = await store.repeatPage(workspace.id, one.id, { after: page.next, limit: 2, now: at(3) });
    assert.deepEqual([page.items.length, rest.items.length, rest.next], [2, 1, null]);
    const moved = [newBatchId(T0 + 2), newBatchId(T0 + 3)] as const;
    await land(blocks(2, { listId: two.id, hasEnd: true }, 12).map((item, i) => ({ ...item, batchId: moved[i % 2]! })));
    await store.restoreRepeats(
      workspace.id,
      [...page.items, ...rest.items].map((state) => ({ ...state, listId: two.id })),
    );
    await land(
      [
        { change: 'undo', batchId: undone },
        { change: 'undo', batchId: moved[0] },
      ],
      at(4),
    );
    for (const listId of [one.id, two.id]) {
      await land(blocks(20, { listId, batchId: null }));
      assert.deepEqual((await durations(listId)).sort(), [10, 10, 100]);
    }
    assert.deepEqual((await store.repeatPage(workspace.id, one.id, { after: null, limit: 9, now: at(9000) })).items, []);
  });

  test(`D56.3, D56.4 store ${driver.name}: a block that a person deleted by id in the same step does not count, nor one before repeat was removed`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'one', { ...NO_SETTINGS, repeat: 'x10 within 30d up to 30d' });
    const block = (host: string, hours: number): Partial<LandingItem> => ({
      ...{ listId: list.id, receivedAt: T0 + hours * 3_600_000 },
      change: upsert(access(ip(host), { expiresAt: T0 + (hours + 1) * 3_600_000 })),
    });
    await land([block('192.0.2.1', 0)]);
    const [{ id }] = (await rules('access_rule', 0, list.id)) as [StoredRule];
    const deletion = { change: 'delete_rules', kind: 'access_rule', ids: [id + 1] } as const;
    await land([block('192.0.2.2', 0), { listId: list.id, receivedAt: T0 + 1, actor: 'ann', change: deletion }, block('192.0.2.2', 1)]);
    const expiries = async () => (await rules('access_rule', 0, list.id)).map(({ rule }) => rule.expiresAt);
    assert.deepEqual(await expiries(), [T0 + 3_600_000, T0 + 2 * 3_600_000]);
    for (const repeat of [null, list.repeat]) await store.updateList(workspace.id, list.id, { repeat });
    await land([block('192.0.2.2', 4)]);
    assert.deepEqual((await expiries())[1], T0 + 5 * 3_600_000, 'counted anew');
  });
}

/** The archive of rule changes over any store, against the answers that the store itself gave at the time (SPEC D61). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { blockGuards, NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { pastLookUp } from '../../src/archive/lookup.ts';
import type { SegmentHead } from '../../src/archive/segments.ts';
import { archiveWriter } from '../../src/archive/write.ts';
import { DAY, dayOf } from '../../src/clock.ts';
import { explain } from '../../src/feed/whatif/explain/explain.ts';
import { explanationJson, type FeedJson } from '../../src/manage/lookup/explanation.ts';
import { namesIn } from '../../src/manage/rules/rule-json.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { StoreReads } from '../../src/ports/store.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { readTarget } from '../../src/signal/target.ts';
import { temporaryFolder } from '../support/folder.ts';
import { seededRandom } from '../support/random.ts';
import { access, fixture, type ip, type StoreDriver, T0, upsert } from './store.ts';

const DAYS = Number(process.env.ARCHIVE_DAYS_SIMULATED ?? 90);
const ROUNDS_A_DAY = Number(process.env.ARCHIVE_ROUNDS ?? 3);
const LOOK_UPS = Number(process.env.ARCHIVE_LOOK_UPS ?? 100);
export const SERVICE = { guardRails: { ...NO_GUARD_RAILS, self: [] }, geo: { country: 'c1', asn: 'a1' } };
const NO_PLACES = { version: '', hasAsn: () => false, ranges: () => ({ v4: new Uint32Array(), v6: new Uint32Array() }) };
export const target = (text: string) => readTarget('ip', text) as ReturnType<typeof ip>;

/** What an answer says, in one order. The store forgets senders after seven days: `sentAt` has the batch of each instant. */
const said = (feeds: readonly (Omit<FeedJson, 'verdict'> & { readonly verdict: string })[], sentAt?: ReadonlyMap<string, string>) =>
  feeds.map(({ id, verdict, rules, protected_by, agreement }) => ({
    ...{ id, verdict, protected_by, agreement },
    rules: rules
      .filter(({ idle }) => idle !== 'not_known')
      .map(({ id: rule, effect, idle, list_name, batch_id, expires_at, updated_at }) => ({
        ...{ rule, effect, idle, list_name, expires_at },
        batch: sentAt === undefined ? batch_id : sentAt.get(String(updated_at)),
      }))
      .sort((a, b) => a.rule - b.rule),
  }));

/** A store whose clock and audit events have simulated times, its archive, and the writer, which can be killed at each write. */
export async function archived(t: TestContext, driver: StoreDriver) {
  const world = await fixture(t, driver);
  const { store, workspace } = world;
  const dir = temporaryFolder(t);
  const at = { now: T0, kill: Number.POSITIVE_INFINITY, rewound: 0, restored: 0 };
  const audited = new Map<number, number>();
  const reads: StoreReads = {
    ...store,
    ping: async () => at.now,
    async archiveState(workspaceId) {
      const state = await store.archiveState(workspaceId);
      return state && { ...state, seq: state.seq - at.rewound, restoredAt: state.restoredAt || at.restored };
    },
    async auditBetween(workspaceId, { from, before }) {
      const { items } = await store.auditPage(workspaceId, { after: null, limit: 10_000 });
      if (before.id > 0) return [];
      return items.map((row) => ({ ...row, at: audited.get(row.id) ?? T0 })).filter((row) => row.at >= from);
    },
  };
  const reports: string[] = [];
  const start = (retention = { days: 400, bytes: 0 }) =>
    archiveWriter({
      ...{ store: reads, dir, retention, report: (message) => void reports.push(message) },
      beforeWrite() {
        at.kill -= 1;
        if (at.kill < 0) throw new Error('killed');
      },
    });
  return {
    ...{ ...world, dir, at, reports, start, reads },
    folder: join(dir, workspace.id),
    /** Runs a change of settings, at the simulated time. */
    async settle(work: () => Promise<unknown>) {
      await work();
      const { items } = await store.auditPage(workspace.id, { after: null, limit: 100 });
      for (const { id } of items) if (!audited.has(id)) audited.set(id, at.now);
    },
    async live(text: string, now: number, sentAt: ReadonlyMap<string, string>) {
      const workspaceNow = (await store.workspace(workspace.id))!;
      const guard = blockGuards(SERVICE.guardRails);
      const asked = { workspace: workspaceNow, target: target(text), action: 'block', counts: false } as const;
      const explained = await explain(asked, { store, geo: NO_PLACES, guard, now: { wall: now, monotonic: 0 } });
      return said(explanationJson(explained, await namesIn(store, workspace.id), new Map()), sentAt);
    },
    async past(text: string, when: number) {
      const { feeds } = await pastLookUp(
        { workspaceId: workspace.id, target: target(text), action: 'block', at: when },
        dir,
        reads,
        SERVICE,
      );
      return { said: said(feeds), feeds };
    },
  };
}

export function archiveConformance(driver: StoreDriver): void {
  test(`D61.1, D61.2, D61.3, D61.4, D61.5 store ${driver.name}: ${DAYS} days of changes with kills, and each look-up is answered as the store did`, async (t) => {
    const { store, workspace, land, at, start, settle, live, past, folder, reports } = await archived(t, driver);
    const random = seededRandom(61);
    const changeSettings = [
      () =>
        store.updateList(workspace.id, random.pick(lists), {
          subtractAllow: random.pick(['on', 'off', 'workspace']),
          widenV4: random.pick([24, null]),
        }),
      () => store.updateFeed(workspace.id, feed.id, { minSources: random.pick([2, null]), lists: random.pick([lists, lists.slice(1)]) }),
      () => store.updateWorkspace(workspace.id, { protect: random.pick([[], ['192.0.2.16/30']]) }),
    ];
    const lists: string[] = [];
    for (const name of ['one', 'two', 'three']) lists.push((await store.createList(workspace.id, name, NO_SETTINGS)).id);
    const feed = await store.createFeed(workspace.id, {
      ...NO_SETTINGS,
      name: 'both',
      minSources: null,
      fit: null,
      always: [],
      lists: lists.slice(0, 2),
    });
    const address = () => (random.below(4) === 0 ? `2001:db8::${random.below(20)}` : `192.0.2.${random.below(40)}`);
    const network = () => (random.below(5) === 0 ? `192.0.2.${random.below(8) * 8}/29` : address());
    const asked: { readonly text: string; readonly when: number; readonly wanted: unknown; readonly day: number }[] = [];
    const sentAt = new Map<string, string>();
    const batches: { id: string; at: number }[] = [];
    let write = start();
    let [kills, settingsChanged] = [0, true];
    await settle(async () => {});
    await write(workspace.id, at.now, SERVICE, true);
    for (let round = 0; round < DAYS * ROUNDS_A_DAY; round += 1) {
      at.now += 60_000 + random.below((2 * DAY) / ROUNDS_A_DAY);
      const recent = batches.filter((each) => each.at > at.now - 6 * DAY);
      const undone = random.below(8) === 0 ? recent.at(-1) : undefined;
      const batchId = newBatchId(at.now);
      const sent = { batchId, keyId: `key-${random.below(3)}` };
      if (undone !== undefined) await land([{ ...sent, change: { change: 'undo', batchId: undone.id } }], at.now);
      else {
        const items = Array.from({ length: 1 + random.below(8) }, (): Partial<LandingItem> => {
          const given = { ...sent, listId: random.pick(lists) };
          const what = target(network());
          if (random.below(4) === 0)
            return { ...given, change: { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: what } };
          const rule = {
            action: random.below(6) === 0 ? 'allow' : 'block',
            expiresAt: random.below(2) === 0 ? null : at.now - (at.now % 1000) + random.below(4 * DAY),
            ruleRef: random.below(5) === 0 ? `ref-${random.below(9)}` : null,
          } as const;
          if (random.below(99) === 0) {
            const soon = { expiresAt: at.now - (at.now % 1000) + 3_600_000 };
            return { ...given, change: upsert(access({ kind: 'country', country: 'NL' }, soon)) };
          }
          return {
            ...given,
            change: upsert(access(what, { ...rule, expiresAt: rule.expiresAt && rule.expiresAt - (rule.expiresAt % 1000) })),
          };
        });
        await land(items, at.now);
      }
      batches.push({ id: batchId, at: at.now });
      sentAt.set(new Date(at.now).toISOString(), batchId);
      at.now += 1000;
      if (random.below(9) === 0) {
        settingsChanged = true;
        await settle(random.pick(changeSettings));
      }
      at.now += 1000;
      const text = address();
      const when = at.now + random.below(59_000);
      asked.push({ text, when, wanted: await live(text, when, sentAt), day: dayOf(when) });
      at.now = when + 1000;
      if (random.below(5) > 0) {
        at.kill = random.below(4) === 0 ? random.below(8) : Number.POSITIVE_INFINITY;
        try {
          await write(workspace.id, at.now, SERVICE, settingsChanged);
          settingsChanged = false;
        } catch (error) {
          assert.equal((error as Error).message, 'killed');
          kills += 1;
          writeFileSync(join(folder, 'left.new'), 'of a killed process');
          write = start();
        }
        at.kill = Number.POSITIVE_INFINITY;
      }
      await store.sweep({ now: at.now, rulesExpiredBefore: at.now - 7 * DAY, auditBefore: 0, limit: 1000 });
    }
    assert.ok(kills > 5, `${kills} kills`);
    assert.deepEqual(reports, []);
    const counts = { equal: 0, unknown: 0, refused: 0 };
    for (let n = 0; n < LOOK_UPS; n += 1) {
      const { text, when, wanted } = asked[Math.floor((n * asked.length) / LOOK_UPS)]!;
      const found = await past(text, when).catch((error: Error) => error.message);
      if (typeof found === 'string') {
        assert.match(found, /settings changed several times/);
        counts.refused += 1;
        continue;
      }
      const isUnknown = found.said.map(({ verdict }) => verdict === 'unknown');
      counts[isUnknown.includes(true) ? 'unknown' : 'equal'] += 1;
      if (isUnknown.includes(true)) assert.ok(found.feeds.some(({ rules }) => rules.some(({ idle }) => idle === 'not_known')));
      else assert.deepEqual(found.said, wanted, `${text} at ${new Date(when).toISOString()}`);
    }
    assert.ok(counts.equal > LOOK_UPS / 2, JSON.stringify(counts));
    // Each segment continues the one before: nothing is repeated, and standard tools read the files.
    let until: object | undefined;
    for (const name of readdirSync(folder).filter((each) => each.includes('changes'))) {
      const lines = gunzipSync(readFileSync(join(folder, name)))
        .toString()
        .trimEnd()
        .split('\n');
      for (const { weir_archive: version, ...head } of lines.map((line) => JSON.parse(line) as Partial<SegmentHead>)) {
        if (version === undefined) continue;
        if (until !== undefined) assert.deepEqual(head.from, until);
        until = head.until;
      }
    }

    // A file that is damaged or missing is reported, and nothing is guessed from it.
    const files = readdirSync(folder).filter((name) => name.includes('changes'));
    const [early, late] = [asked[20]!, asked.find(({ when }) => when > at.now - 2 * DAY)!];
    const answer = ({ text, when }: (typeof asked)[number]) =>
      past(text, when).then(
        (found) => found.said,
        (error: Error) => error.message,
      );
    const good = await Promise.all([answer(early), answer(late)]);
    const harm = async (name: string, work: (path: string, bytes: Buffer) => void, wanted: RegExp, mayBeEqual = false) => {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      work(path, bytes);
      const found = await Promise.all([answer(early), answer(late)]);
      assert.deepEqual(found[0], good[0]);
      if (mayBeEqual && typeof found[1] !== 'string') assert.deepEqual(found[1], good[1]);
      else assert.match(String(found[1]), wanted);
      writeFileSync(path, bytes);
    };
    const between = files.at(-4)!;
    for (let n = 0; n < 8; n += 1) {
      const flipped = (path: string, bytes: Buffer) => writeFileSync(path, bytes.with(random.below(bytes.length), random.below(256)));
      await harm(between, (path, bytes) => flipped(path, bytes), /is damaged/, true);
    }
    await harm(between, (path, bytes) => writeFileSync(path, bytes.subarray(0, bytes.length - 9)), /is damaged/);
    await harm(between, (path, bytes) => writeFileSync(path, Buffer.concat([bytes, bytes])), /^$/, true);
    await harm(between, (path) => rmSync(path), /nothing between/);
    assert.deepEqual(await Promise.all([answer(early), answer(late)]), good);

    // The newest one is written again, because the store still has its changes.
    const newest = join(folder, files.at(-1)!);
    writeFileSync(newest, readFileSync(newest).subarray(5));
    write = start();
    at.now += 1000;
    await write(workspace.id, at.now, SERVICE, true);
    assert.match(reports.join(), /is damaged.*is now .*damaged-/);
    assert.deepEqual(await Promise.all([answer(early), answer(late)]), good);

    // After eight days without a writer the store does not have everything.
    const before = at.now;
    at.now += 8 * DAY;
    await write(workspace.id, at.now, SERVICE, false);
    assert.match(reports.at(-1)!, /has nothing from/);
    assert.match(String(await answer({ ...late, when: before + 4 * DAY })), /has nothing between/);
    assert.deepEqual(await answer(early), good[0]);
    at.now += 60_000;
    assert.deepEqual(await answer({ ...late, when: at.now - 1 }), await live(late.text, at.now - 1, sentAt));
    const again = async (wait = DAY) => {
      reports.length = 0;
      at.now += wait;
      await write(workspace.id, at.now, SERVICE, true);
      return reports.join();
    };
    at.rewound = 1;
    assert.match(await again(), /has nothing from/);
    assert.equal(await again(), '');
    at.restored = at.now + 1;
    at.now += 60_000;
    assert.match(String(await answer({ ...late, when: at.now - 1 })), /has nothing between/);
    // Moments before the gap need nothing of it.
    assert.doesNotMatch(String(await answer({ ...late, when: at.now - 300_000 })), /has nothing/);
    write = start();
    assert.match(await again(1000), /has nothing from/);
    assert.equal(await again(), '');
    // Beyond the retention, and above the limit, the oldest months are deleted, with the senders of older rules.
    const senderless = (found: unknown) => JSON.stringify(found, (name, value) => (name === 'batch' ? undefined : value));
    const when = at.now + 1;
    for (const retention of [
      { days: 30, bytes: 0 },
      { days: 400, bytes: 1 },
    ]) {
      at.now += DAY;
      await start(retention)(workspace.id, at.now, SERVICE, true);
      at.now += 1000;
      assert.match(String(await answer(early)), /the archive begins at/);
      if (retention.bytes === 0)
        assert.deepEqual(senderless(await answer({ ...late, when })), senderless(await live(late.text, when, sentAt)));
      assert.deepEqual(senderless(await answer({ ...late, when: at.now - 1 })), senderless(await live(late.text, at.now - 1, sentAt)));
    }
    assert.ok(readdirSync(folder).length <= 3, readdirSync(folder).join());
    assert.match(String(await answer({ ...late, when: T0 - 1 })), /the archive begins at/);
    t.diagnostic(`${JSON.stringify(counts)}, ${kills} kills, ${readdirSync(folder).length} files`);
  });
}

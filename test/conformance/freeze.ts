/** What every store driver must do for frozen feeds (SPEC D60). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockGuards, NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { documentBuilder } from '../../src/feed/build/document-builder.ts';
import { DEFAULT_VARIANT } from '../../src/feed/variant.ts';
import type { ListSink } from '../../src/ports/snapshot.ts';
import { frozenContent } from '../../src/runtime/jobs/work/freeze.ts';
import { ManualClock, START } from '../support/feed-world.ts';
import { access, collectingSink, fixture, ip, type StoreDriver, upsert } from './store.ts';

const NOTHING = { change: 0, lists: new Set<string>() };

export function freezeConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D60.2, D60.3 store ${name}: a freeze has every rule of the feed; rules expire, renewals and other changes do not reach it`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, subtractAllow: 'workspace' });
    const send = (target: Parameters<typeof access>[0], rule: object = {}) =>
      land([{ listId: list.id, change: upsert(access(target, rule)) }], START);
    await send(ip('192.0.2.1'), { expiresAt: START + 60_000 });
    await send(ip('192.0.2.3'), { confidence: 'high', severity: 'low' });
    await send(ip('2001:db8::/48'), { expiresAt: START + 90_000 });
    await send({ kind: 'asn', asn: 64_500 });
    await send({ kind: 'country', country: 'NL' }, { action: 'allow' });
    const read = async (at: number) => {
      const { rows, sink } = collectingSink();
      const head = await store.follow(workspace.id, list.id, at, NOTHING, { ...sink, list: () => {}, removed: () => {} } as ListSink);
      assert.ok(head !== undefined && head !== 'too_far');
      return { rows: rows.map((row) => JSON.stringify(row)).sort(), head };
    };
    const live = await read(START);
    const clock = new ManualClock();
    await store.freezeFeed(workspace.id, await frozenContent(workspace.id, list.id, { store, clock }), null);
    const before = await read(START);
    assert.deepEqual(before.rows, live.rows);
    assert.ok(before.head.revision < 0 && before.head.revision !== live.head.revision);

    await send(ip('192.0.2.1'), { expiresAt: START + 900_000 });
    await send(ip('192.0.2.9'));
    await send(ip('192.0.2.3'), { action: 'allow' });
    assert.deepEqual(await read(START).then(({ rows, head }) => [rows, head.revision]), [live.rows, before.head.revision]);
    assert.equal((await read(START + 60_000)).rows.length, live.rows.length - 1);
    const found = (await store.findNamed(workspace.id, list.id))!;
    assert.deepEqual(
      found.freezes!.map(({ feedId, revision }) => [feedId, revision]),
      [[list.id, before.head.revision]],
    );

    const ranges = { version: 'none', ranges: () => ({ v4: [], v6: [] }) };
    const builder = documentBuilder({
      ...{ store, clock, guard: blockGuards({ ...NO_GUARD_RAILS, ownNetworks: [] } as never), versioned: {} as never },
      ...{ geo: () => ranges as never, phaseOf: (() => undefined) as never },
    });
    let sequence = 0;
    const content = async () => {
      sequence += 1;
      const built = await builder.build({
        workspaceId: workspace.id,
        feedId: list.id,
        variant: DEFAULT_VARIANT,
        sequence,
        offline: false,
        before: undefined,
      });
      assert.ok(built.kind === 'document');
      return Buffer.from(built.bytes).toString();
    };
    assert.equal(await content(), '192.0.2.1/32\n192.0.2.3/32\n2001:db8::/48\n');
    await clock.advance(60_000);
    assert.equal(await content(), '192.0.2.3/32\n2001:db8::/48\n');
    await store.thawFeed(workspace.id, list.id, null);
    assert.equal(await content(), '192.0.2.1/32\n192.0.2.9/32\n2001:db8::/48\n');
    await assert.rejects(store.thawFeed(workspace.id, list.id, null), { code: 'REFUSED' });
  });

  test(`D60.2 store ${name}: a freeze with missing rules is an error`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    await land([upsert(access(ip('192.0.2.1')))]);
    const content = await frozenContent(workspace.id, null, { store, clock: new ManualClock() });
    await store.freezeFeed(workspace.id, { ...content, pieces: [] }, null);
    const sink = { ...collectingSink().sink, list: () => {}, removed: () => {} };
    await assert.rejects(store.follow(workspace.id, null, START, NOTHING, sink), /has 0 of 1 rules/);
  });
}

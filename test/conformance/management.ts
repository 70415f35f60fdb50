/** What every store driver must do for management: pages, expected states, requests that are done once, who did what (SPEC D15). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { feedState } from '../../src/account/feed.ts';
import { MOST_PEERS, MOST_SHARING, PEER_RETENTION, readPeers } from '../../src/account/guard-rails.ts';
import { listState, NO_SETTINGS } from '../../src/account/list.ts';
import { stateTag } from '../../src/account/tag.ts';
import { workspaceSettingsJson } from '../../src/account/workspace.ts';
import type { SeenPeer } from '../../src/ports/stored/peer-store.ts';
import { allOf } from '../support/pages.ts';
import { fixture, KEY, type StoreDriver } from './store.ts';

const BY = { keyId: 'k', actor: 'Жанна' };
const FEED = { ...NO_SETTINGS, description: null, lists: null };
const DAY = 86_400_000;

export function managementConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D15.8 store ${name}: pages have every item of the workspace once, in order`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const lists = (await store.directory(workspace.id))!.lists.map(({ id }) => id);
    for (let i = 0; i < 4; i += 1) {
      for (const each of [other, workspace]) {
        const list = await store.createList(each.id, `list-${i}`, NO_SETTINGS);
        await store.createFeed(each.id, {
          ...FEED,
          name: `feed-${i}`,
          lists: i === 0 ? null : i === 1 ? [] : [list.id],
        });
        await store.createKey(each.id, { ...KEY, hash: Buffer.from(`${each.id} ${i}`) });
        if (each === workspace) lists.push(list.id);
      }
    }
    const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);
    assert.deepEqual(ids(await allOf((page) => store.listPage(workspace.id, page))), lists);
    assert.deepEqual(await allOf((page) => store.feedPage(workspace.id, page)), await store.feeds(workspace.id));
    assert.deepEqual(await allOf((page) => store.keyPage(workspace.id, page)), await store.keys(workspace.id));
    const audited = await allOf((page) => store.auditPage(workspace.id, page));
    assert.deepEqual(
      audited.map(({ event }) => event),
      [...[3, 2, 1, 0].flatMap(() => ['key created', 'feed created', 'list created']), ...['workspace created', 'list created']],
    );
    const [feed] = await store.feeds(workspace.id);
    assert.deepEqual(await store.feed(workspace.id, feed!.id), feed);
    assert.equal(await store.feed(other.id, feed!.id), undefined);
    const [key] = await store.keys(workspace.id);
    assert.deepEqual([await store.key(workspace.id, key!.id), await store.key(other.id, key!.id)], [key, undefined]);
    assert.deepEqual([await store.workspace(workspace.id), await store.workspace(randomUUID())], [workspace, undefined]);
    assert.deepEqual(await store.listPage(randomUUID(), { after: null, limit: 2 }), { items: [], next: null });
  });

  test(`D62.2, D62.3, D62.4 store ${name}: peers of a workspace have a limit by key, an end, and no shared addresses`, async (t) => {
    const { store, query, workspace, organization } = await fixture(t, driver);
    const key = await store.createKey(workspace.id, { ...KEY, hash: Buffer.from('peer') });
    const at = Date.now();
    const seen = (address: string, keyId = key.id, of: Partial<SeenPeer> = {}) => ({ keyId, address, isPerson: false, at, ...of });
    const peers = async (id = workspace.id) => readPeers((await store.workspace(id))!.peers);
    const addresses = async (id?: string) => (await peers(id)).map(({ address }) => address);
    const revisions = async () => [(await store.directory(workspace.id))!.lists[0]!.revision, await store.keyRevision()];

    await store.notePeers(workspace.id, [
      seen('192.0.2.1'),
      seen('192.0.2.2', 'oidc:ann', { isPerson: true }),
      seen('192.0.2.3', 'nobody'),
    ]);
    const lastSeen = new Date(at).toISOString().slice(0, 10);
    const first = [
      { address: '192.0.2.1', name: `key "${key.name ?? key.prefix}"`, lastSeen },
      { address: '192.0.2.2', name: 'a person', lastSeen },
    ];
    assert.deepEqual(await peers(), first);
    assert.deepEqual((await store.findCaller(Buffer.from('peer')))!.guardRails.peers, (await store.workspace(workspace.id))!.peers);
    const before = await revisions();
    await store.notePeers(workspace.id, [seen('192.0.2.1', key.id, { at: at + 1 })]);
    assert.deepEqual(await revisions(), before, 'the same addresses change nothing');
    await store.notePeers(workspace.id, [seen('192.0.2.4')]);
    assert.deepEqual(
      (await revisions()).map((each, i) => each > before[i]!),
      [true, true],
    );

    // A key with any number of addresses displaces its own, not those of others.
    const flood = Array.from({ length: MOST_PEERS + 9 }, (_, i) => seen(`2001:db8::${i.toString(16)}`, key.id, { at: at + DAY }));
    await store.notePeers(workspace.id, flood);
    assert.ok((await addresses()).length <= MOST_PEERS && (await addresses()).includes('192.0.2.2'));
    assert.ok(!(await addresses()).includes('192.0.2.1'), 'those used last stay');

    // The same ones stay, however often all are noted.
    const stays = await revisions();
    await store.notePeers(workspace.id, flood.slice(0, 20));
    assert.deepEqual(await revisions(), stays);
    const people = await store.createWorkspace(organization.id, 'people');
    const crowd = Array.from({ length: MOST_PEERS + 9 }, (_, i) => seen(`2001:db8:1::${i.toString(16)}`, `oidc:${i}`, { isPerson: true }));
    await store.notePeers(people.id, crowd);
    const inside = await addresses(people.id);
    assert.equal(inside.length, MOST_PEERS);
    await store.notePeers(people.id, crowd);
    assert.deepEqual(await addresses(people.id), inside);

    // One in too many workspaces is a proxy of others.
    for (let i = 0; i < MOST_SHARING; i += 1) {
      const other = await store.createWorkspace(organization.id, `shared-${i}`);
      await store.notePeers(other.id, [seen('192.0.2.2', 'oidc:ann', { isPerson: true })]);
      assert.deepEqual(await addresses(other.id), i < MOST_SHARING - 1 ? ['192.0.2.2'] : []);
    }
    assert.ok((await addresses()).includes('192.0.2.2'));
    await store.notePeers(workspace.id, []);
    assert.ok(!(await addresses()).includes('192.0.2.2'));

    await store.revokeKey(key.id);
    assert.deepEqual(await addresses(), []);
    assert.equal(await query('SELECT DISTINCT workspace_pk FROM peers').then((rows) => rows.length), MOST_SHARING + 2);
    assert.deepEqual(await store.workspacesWithEndedPeers(at), []);
    assert.equal((await store.workspacesWithEndedPeers(at + PEER_RETENTION + 1)).length, MOST_SHARING + 2);
    const ending = await store.createKey(workspace.id, { ...KEY, hash: Buffer.from('ending'), expiresAt: at + DAY });
    await store.notePeers(workspace.id, [seen('192.0.2.8', ending.id)]);
    assert.deepEqual(await addresses(), ['192.0.2.8']);
    assert.deepEqual(await store.workspacesWithEndedPeers(at + DAY), [workspace.id]);
  });

  test(`D15.9 store ${name}: a change of another state than is expected is refused, and changes nothing`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const feed = await store.createFeed(workspace.id, { ...FEED, name: 'device' });
    const elsewhere = { ifMatch: ['"x"'] };
    const content = async () => [await store.directory(workspace.id), await store.feeds(workspace.id), await store.workspace(workspace.id)];
    const plain = async () => JSON.stringify(await content(), (field, value) => (field === 'readAt' ? 0 : value));
    const before = await plain();
    for (const refused of [
      () => store.updateList(workspace.id, list.id, { family: 'v4' }, elsewhere),
      () => store.deleteList(workspace.id, list.id, elsewhere),
      () => store.updateFeed(workspace.id, feed.id, { lists: [] }, elsewhere),
      () => store.deleteFeed(workspace.id, feed.id, { ifMatch: [] }),
      () => store.updateWorkspace(workspace.id, { minPrefixV4: 8 }, elsewhere),
    ]) {
      await assert.rejects(refused(), { code: 'CHANGED' });
    }
    assert.equal(await plain(), before);
    const of = (state: object) => ({ ifMatch: ['"x"', stateTag(state)] });
    const both = await Promise.allSettled([
      store.updateList(workspace.id, list.id, { family: 'v4' }, of(listState(list))),
      store.updateList(workspace.id, list.id, { family: 'v6' }, of(listState(list))),
    ]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await store.updateFeed(workspace.id, feed.id, { lists: [list.id] }, of(feedState(feed)));
    await store.updateWorkspace(workspace.id, { minPrefixV4: 8 }, of(workspaceSettingsJson(workspace)));
    const [changed] = await store.feeds(workspace.id);
    await store.deleteFeed(workspace.id, feed.id, of(feedState(changed!)));
  });

  test(`D15.11 store ${name}: a request that is to be done once is, also by two at the same time; it is known for a day`, async (t) => {
    const { store, query, workspace, organization } = await fixture(t, driver);
    const once = { keyId: 'k', token: 'a', fingerprint: 'f' };
    const earlier = (token: string, id = workspace.id) => store.earlierAnswer(id, { keyId: 'k', token }, 0);
    const list = () => store.createList(workspace.id, 'edge', NO_SETTINGS, 0, { once });
    const made = (await Promise.allSettled([list(), list(), list()])).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.equal(made.length, 1);
    await assert.rejects(list(), { code: 'ANSWERED_BEFORE' });
    assert.equal(await store.listCount(workspace.id), 2);
    const known = (await earlier('a'))!;
    assert.deepEqual([known.fingerprint, JSON.parse(known.answer)], ['f', made[0]]);
    const other = await store.createWorkspace(organization.id, 'other');
    assert.equal(await earlier('a', other.id), undefined);
    assert.equal(await store.earlierAnswer(workspace.id, { keyId: 'other', token: 'a' }, 0), undefined);
    assert.equal(await store.earlierAnswer(workspace.id, { keyId: 'k', token: 'a' }, Date.now() + DAY), undefined);

    const key = (n: number, token: string) =>
      store.createKey(workspace.id, { ...KEY, hash: Buffer.alloc(32, n) }, { once: { ...once, token } });
    const keys = await Promise.allSettled([key(1, 'b'), key(2, 'b')]);
    assert.deepEqual(keys.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal((await store.keys(workspace.id)).length, 1);
    await store.createFeed(workspace.id, { ...FEED, name: 'device' }, { once: { ...once, token: 'c' } });
    await store.rememberAnswer(workspace.id, { ...once, token: 'd' }, '{"first":1}');
    await store.rememberAnswer(workspace.id, { ...once, token: 'd' }, '{"second":2}');
    assert.equal((await earlier('d'))!.answer, '{"first":1}');

    const sweep = (now: number) => store.sweep({ now, rulesExpiredBefore: 0, auditBefore: 0, limit: 1000 });
    await sweep(Date.now() + DAY - 60_000);
    assert.equal((await query('SELECT token FROM answers')).length, 4);
    await sweep(Date.now() + DAY + 60_000);
    assert.deepEqual(await query('SELECT token FROM answers'), []);
    await store.createList(workspace.id, 'edge', NO_SETTINGS, 0, { once });
  });

  test(`D10.20 store ${name}: keys that are in use and end soon are counted`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const now = await store.ping();
    const make = (n: number, expiresAt: number | null) => store.createKey(workspace.id, { ...KEY, hash: Buffer.alloc(32, n), expiresAt });
    const [soon, idle, later, never] = await Promise.all([
      make(1, now + 13 * DAY),
      make(2, now + 13 * DAY),
      make(3, now + 15 * DAY),
      make(4, null),
    ]);
    await store.touchKeys([soon, later, never].map(({ id }) => ({ id, at: now })));
    await store.touchKeys([{ id: idle.id, at: now - 31 * DAY }]);
    assert.equal(await store.endingKeys(now), 1);
    assert.equal(await store.endingKeys(now + 2 * DAY), 2);
    await store.revokeKey(soon.id);
    assert.equal(await store.endingKeys(now), 0);
  });

  test(`D15.7 store ${name}: the audit log says who changed what of which workspace`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const { id } = await store.createList(workspace.id, 'edge', NO_SETTINGS, 0, { by: BY });
    await store.updateList(workspace.id, id, { family: 'v4', action: 'block' }, { by: BY });
    await store.updateList(workspace.id, id, { description: 'x'.repeat(2040) }, { by: BY });
    await store.updateList(workspace.id, id, { description: 'y'.repeat(2040) }, { by: { keyId: 'k', actor: null } });
    const { id: key } = await store.createKey(workspace.id, { ...KEY, hash: Buffer.alloc(32) }, { by: BY });
    await store.revokeKey(key, { by: BY });
    await store.revokeKey(key, { by: BY });
    // What changes nothing has no row.
    for (let n = 0; n < 2; n += 1) await store.updateWorkspace(workspace.id, { protect: ['private'] }, { by: BY });
    await store.updateList(workspace.id, id, { family: 'v4' }, { by: BY });
    await store.setSubscription(organization.id, organization.subscription, BY);
    await store.deleteList(workspace.id, id);
    const { items } = await store.auditPage(workspace.id, { after: null, limit: 100 });
    const [deleted] = items;
    assert.deepEqual([deleted!.event, deleted!.by, deleted!.change!.after], ['list deleted', { keyId: null, actor: null }, null]);
    assert.deepEqual(
      items.slice(1, 7).map(({ event, object, by, change }) => [event, object, by, change?.before, change?.after]),
      [
        ['workspace changed', workspace.id, BY, { protect: [] }, { protect: ['private'] }],
        ['key revoked', key, BY, undefined, undefined],
        ['key created', key, BY, null, { name: null, permissions: KEY.permissions, list_id: null, feed_id: null, expires_at: null }],
        ['list changed', id, { keyId: 'k', actor: null }, undefined, undefined],
        ['list changed', id, BY, { description: null }, { description: 'x'.repeat(2040) }],
        ['list changed', id, BY, { family: null, action: null }, { family: 'v4', action: 'block' }],
      ],
    );
    // Keys that go with their list or feed have a row each, but not those that were revoked before.
    const edge = await store.createList(workspace.id, 'bound', NO_SETTINGS);
    const feed = await store.createFeed(workspace.id, { ...FEED, name: 'device' });
    const bindings = [{ listId: edge.id }, { listId: edge.id }, { feedId: feed.id }];
    const made = await Promise.all(
      bindings.map((bound, n) =>
        store.createKey(workspace.id, { ...KEY, permissions: ['feed:read'], ...bound, hash: Buffer.alloc(32, n + 1) }),
      ),
    );
    const [before, ofList, ofFeed] = made.map((each) => each.id);
    await store.revokeKey(before!, { by: BY });
    await store.deleteList(workspace.id, edge.id, { by: BY });
    await store.deleteFeed(workspace.id, feed.id, { by: BY });
    assert.deepEqual(
      (await store.auditPage(workspace.id, { after: null, limit: 5 })).items.map(({ event, object, by }) => [event, object, by]),
      [
        ['feed deleted', feed.id, BY],
        ['key revoked', ofFeed, BY],
        ['list deleted', edge.id, BY],
        ['key revoked', ofList, BY],
        ['key revoked', before, BY],
      ],
    );
    for (const bound of [{ listId: edge.id }, { feedId: feed.id }])
      await assert.rejects(store.createKey(workspace.id, { ...KEY, ...bound, hash: Buffer.alloc(32, 9) }), { code: 'NOT_FOUND' });
    assert.ok(items.every(({ at }, i) => i === 0 || at <= items[i - 1]!.at));
    assert.deepEqual(
      (await store.auditPage(other.id, { after: null, limit: 100 })).items.map(({ event }) => event),
      ['workspace created', 'list created'],
    );
  });

  test(`D18.73 store ${name}: what is put off is kept until its time is over, once for each thing, and bounded`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const later = Date.now() + DAY;
    const of = (key: string, until = later) => ({
      id: randomUUID(),
      key,
      state: 'off',
      text: `${key} is off`,
      reason: 'ticket 4711',
      until,
    });
    const [first, again] = [of('guard_rails'), of('guard_rails')];
    await store.snooze(workspace.id, first, BY);
    const made = await store.snooze(workspace.id, again, { keyId: null, actor: 'Jana', personId: 'k:1' });
    assert.deepEqual(await store.snoozes(workspace.id, later - 1), [made]);
    assert.deepEqual([made.id, made.by, made.until], [again.id, { keyId: null, actor: 'Jana', personId: 'k:1' }, later]);
    assert.deepEqual([await store.snoozes(workspace.id, later), await store.snoozes(other.id, 0)], [[], []]);
    await store.snooze(workspace.id, of('over', 1), BY);
    await store.snooze(workspace.id, of('key/1'), BY, 2);
    await assert.rejects(store.snooze(workspace.id, of('one more'), BY, 2), { code: 'REFUSED' });
    await store.snooze(other.id, of('one more'), BY);
    await assert.rejects(store.endSnooze(other.id, made.id, BY), { code: 'NOT_FOUND' });
    await store.endSnooze(workspace.id, made.id, BY);
    await store.snooze(workspace.id, of('one more'), BY, 2);
    const { items } = await store.auditPage(workspace.id, { after: null, limit: 2 });
    assert.deepEqual(
      items.map(({ event, change }) => [event, change?.before?.reason ?? change?.after?.reason]),
      [
        ['attention snoozed', 'ticket 4711'],
        ['attention snooze ended', 'ticket 4711'],
      ],
    );
  });
}

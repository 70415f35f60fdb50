/** What every store driver must do for webhooks, and that one process of several tells them (SPEC D27). */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { DEFAULT_GUARDS, newState, PLAIN_READING } from '../../src/account/source.ts';
import { FAILING_TRIES, MOST_WEBHOOKS, STORED_DELIVERIES } from '../../src/account/webhook.ts';
import { readConfig } from '../../src/config.ts';
import { alertsOf } from '../../src/manage/alerts.ts';
import { factsOf, type ProcessStatus } from '../../src/manage/status.ts';
import { workspaceParts } from '../../src/manage/workspace-status.ts';
import type { Store } from '../../src/ports/store.ts';
import { webhooksOf } from '../../src/roles/webhooks.ts';
import { startReports } from '../../src/runtime/webhooks/heartbeat.ts';
import { hookReceiver, taken } from '../support/hook-receiver.ts';
import { testEnvironment } from '../support/weir.ts';
import { access, fixture, ip, KEY, type StoreDriver, T0, upsert } from './store.ts';

const BY = { keyId: null, actor: 'Жанна' };
const MINUTE = 60_000;
const hook = (name: string, url = 'https://chat.example/hooks/x') => ({
  id: randomUUID(),
  name,
  url,
  style: 'weir' as const,
  secret: null,
});
const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);
const TOLD = { items: {}, audit: 7, seen: [8], seq: 9 };
const MESSAGE = { id: randomUUID(), at: 50, changes: [], attention: 0, urgent: 0, tries: 0 };

const SERVICE = {
  engines: { store: 'embedded', stream: 'embedded' },
  geo: () => ({ version: '', country: { age_days: 0 }, asn: { age_days: 0 } }),
};

/** Those who tell the webhooks of a store, by a clock that only the test moves. */
async function telling(t: TestContext, driver: StoreDriver) {
  const parts = new Set<{ stop(): Promise<void> }>();
  // Before the store is closed, which is opened below.
  t.after(() => Promise.all([...parts].map((one) => one.stop())));
  const made = await fixture(t, driver);
  const { store, workspace } = made;
  const receiver = await hookReceiver();
  t.after(() => receiver[Symbol.asyncDispose]());
  const read = readConfig(
    testEnvironment({ WEBHOOK_NETWORKS: '127.0.0.1', SECRETS_KEY: randomBytes(32).toString('hex') }) as Record<string, string>,
  );
  assert('config' in read);
  const logged: string[] = [];
  let passed = 0;
  const clock = { now: () => Date.now() + passed, monotonic: () => performance.now() + passed };
  const teller = (of: Store, own?: string) => {
    const config = own === undefined ? read.config : { ...read.config, webhookUrl: own };
    const one = webhooksOf(
      { config, store: of, guardRails: { ...NO_GUARD_RAILS, self: [] } as never, log: (_, text) => void logged.push(text) },
      SERVICE,
      clock,
    );
    parts.add(one);
    return one;
  };
  await store.updateWorkspace(workspace.id, { minPrefixV4: 8 });
  return {
    ...made,
    receiver,
    parts,
    logged,
    teller,
    clock,
    pass(ms: number) {
      passed += ms;
    },
    /** Looks, and waits until what it makes is sent. */
    async tell(one: ReturnType<typeof webhooksOf>) {
      await one.tick(true);
      await one.idle();
      assert.deepEqual(
        logged.filter((text) => !/was dropped|failed 5 times/.test(text)),
        [],
      );
    },
    announced: () => receiver.received.splice(0).map(({ json }) => json),
  };
}

export function webhookConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D27.1, D47.1 store ${name}: a webhook is made, set and deleted with an audit row each; a workspace has ten, by their names`, async (t) => {
    const { store, again, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const before = await store.webhookRevision();
    const given = { ...hook('soc'), secret: Buffer.from([1, 2, 255]) };
    const made = await store.createWebhook(workspace.id, given, { by: BY });
    const { secret: _, ...settings } = given;
    assert.deepEqual(made, { ...settings, workspaceId: workspace.id, hasSecret: true, createdAt: made.createdAt });
    const reader = await again();
    assert.deepEqual(await reader.webhooks(workspace.id), [made]);
    assert.deepEqual([...(await reader.sealedWebhook(workspace.id, given.id))!.secret!], [1, 2, 255]);
    assert.deepEqual([await reader.webhooks(other.id), await reader.sealedWebhook(other.id, given.id)], [[], undefined]);
    assert.deepEqual((await reader.subscribedWorkspaces({ after: null, limit: 1 })).items, [workspace.id]);
    assert.ok((await store.webhookRevision()) > before);
    await assert.rejects(store.createWebhook(workspace.id, hook('soc')), { code: 'REFUSED', message: /has a webhook called "soc"/ });
    await assert.rejects(store.updateWebhook(other.id, given.id, { style: 'teams' }), { code: 'NOT_FOUND' });
    await assert.rejects(store.updateWebhook(workspace.id, given.id, { style: 'teams' }, { ifMatch: ['"x"'] }), { code: 'CHANGED' });
    // Whatever was judged before: with another style its secret would be used in another way (D47.1).
    await assert.rejects(store.updateWebhook(workspace.id, given.id, { style: 'pagerduty' }), {
      code: 'REFUSED',
      message: /^style is not/,
    });
    const set = await store.updateWebhook(workspace.id, given.id, { style: 'teams', secret: null }, { by: BY });
    assert.deepEqual([set.style, set.hasSecret, set.name], ['teams', false, 'soc']);
    for (let n = 1; n < MOST_WEBHOOKS; n += 1) await store.createWebhook(workspace.id, hook(`n${n}`));
    await assert.rejects(store.createWebhook(workspace.id, hook('more')), { code: 'REFUSED', message: /has 10 webhooks/ });
    await store.deleteWebhook(workspace.id, given.id, { by: BY });
    await assert.rejects(store.deleteWebhook(workspace.id, given.id), { code: 'NOT_FOUND' });
    assert.equal((await store.webhooks(workspace.id)).length, MOST_WEBHOOKS - 1);
    const rows = (await store.auditPage(workspace.id, { after: null, limit: 100 })).items.filter(({ object }) => object === given.id);
    assert.deepEqual(
      rows.map(({ event }) => event),
      ['webhook deleted', 'webhook changed', 'webhook created'],
    );
    assert.doesNotMatch(JSON.stringify(rows), /hooks/);
  });

  test(`D27.7, D47.2 store ${name}: only who holds the lease writes what was told; tries are kept, the last twenty; reports of processes that are there`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const { id } = await store.createWebhook(workspace.id, hook('soc'));
    const lease = { name: 'webhooks', fence: (await store.claimLease('webhooks', 'a', 1000))! };
    assert.equal(await store.writeLog({ ...lease, fence: lease.fence - 1 }, [{ id, announced: TOLD, message: MESSAGE }]), false);
    assert.deepEqual(await store.dueMessages(1e15, 9), []);
    assert.equal(
      await store.writeLog(lease, [
        { id, announced: TOLD, message: MESSAGE },
        { id: 'service', announced: TOLD, message: MESSAGE },
      ]),
      true,
    );
    assert.deepEqual(await store.webhookStates(workspace.id), [{ id, announced: TOLD, isWaiting: true, lastAt: 50 }]);
    assert.deepEqual((await store.webhookStates(null))[0]!.announced, TOLD);
    assert.deepEqual(await store.dueMessages(49, 9), []);
    const due = await store.dueMessages(50, 9);
    assert.deepEqual(
      due.map((each) => [each.id, each.webhook?.name, each.message]).sort(),
      [
        [id, 'soc', MESSAGE],
        ['service', undefined, MESSAGE],
      ].sort(),
    );
    const delivery = { message: MESSAGE.id, at: 51, ms: 1, status: 500, outcome: 'failed', text: '' } as const;
    for (let n = 1; n <= STORED_DELIVERIES + 2; n += 1)
      assert.ok(
        await store.writeDeliveries(lease, [
          { id, waits: { message: { ...MESSAGE, tries: n }, nextAt: 60 + n }, delivery: { ...delivery, at: n } },
        ]),
      );
    assert.deepEqual((await store.dueMessages(1000, 9)).find((each) => each.id === id)?.message.tries, STORED_DELIVERIES + 2);
    for (let n = 1; n <= FAILING_TRIES; n += 1)
      await store.writeDeliveries(lease, [{ id: 'service', waits: { message: MESSAGE, nextAt: 50 }, delivery }]);
    const failing = { id, name: 'soc', workspaceId: workspace.id, failures: STORED_DELIVERIES + 2 };
    const service = { id: 'service', name: null, workspaceId: null, failures: FAILING_TRIES };
    assert.deepEqual((await store.failingWebhooks(null)).sort(byId), [failing, service].sort(byId));
    assert.deepEqual(await store.failingWebhooks(workspace.id), [failing]);
    await store.updateWebhook(workspace.id, id, { url: 'https://other.example/' });
    assert.deepEqual(await store.failingWebhooks(workspace.id), []);
    assert.equal((await store.dueMessages(50, 9)).length, 2);
    const kept = await store.webhookDeliveries(id);
    assert.deepEqual([kept.length, kept[0]!.at], [STORED_DELIVERIES, STORED_DELIVERIES + 2]);
    assert.ok(await store.writeDeliveries(lease, [{ id, waits: null, delivery: { ...delivery, outcome: 'delivered' } }]));
    assert.equal((await store.webhookStates(workspace.id))[0]!.isWaiting, false);
    await store.deleteWebhook(workspace.id, id);
    assert.ok(await store.writeLog(lease, [{ id, announced: TOLD, message: MESSAGE }]));
    assert.deepEqual([await store.webhookStates(workspace.id), await store.webhookDeliveries(id)], [[], []]);
    const at = await store.ping();
    await store.reportProcess('a', '{"n":1}');
    await store.reportProcess('b', '{}');
    await store.reportProcess('a', '{"n":2}');
    await store.reportProcess('b', null);
    assert.deepEqual(await store.processReports(at - 1000), [{ process: 'a', report: '{"n":2}' }]);
    assert.deepEqual(await store.processReports(at + MINUTE), []);
  });

  test(`D27.2, D27.3, D27.4 store ${name}: what begins, changes, ends and happens is told once, gathered for a minute, whoever tells`, async (t) => {
    const { store, again, workspace, land, receiver, teller, clock, pass, tell, announced } = await telling(t, driver);
    const [one, two] = [teller(store), teller(await again())];
    await store.createKey(workspace.id, { ...KEY, hash: randomBytes(32), name: 'before' }, { by: BY });
    await store.createWebhook(workspace.id, hook('soc', `${receiver.url}/soc`), { by: BY });
    await tell(one);
    assert.deepEqual(
      announced().map(({ attention, changes }) => [attention, changes.map(({ is, text }) => [is, text])]),
      [[0, [['happened', 'the webhook "soc" was created by "Жанна"']]]],
    );
    // The other one has no lease; this one waits for a minute.
    const source = await store.createSource(workspace.id, { ...SOURCE, id: randomUUID() }, { maxSources: 0, maxLists: 0 });
    const { source: made } = source;
    const fence = (await store.claimLease('sources', 'a', 1000))!;
    const fail = (failures: number, stop: 'refused' | null = null) =>
      store.writeSources({ name: 'sources', fence }, [
        { id: made.id, revision: made.revision, state: { ...newState(T0), fetchedAt: T0, failures, fault: 'it is <gone> @all', stop } },
      ]);
    await fail(3);
    await store.createKey(workspace.id, { ...KEY, hash: randomBytes(32), name: 'new' }, { by: BY });
    const list = await store.createList(workspace.id, 'old', NO_SETTINGS);
    await store.deleteList(workspace.id, list.id, { by: BY });
    const batch = randomUUID();
    await land([
      { batchId: batch, change: upsert(access(ip('192.0.2.1'))) },
      { batchId: randomUUID(), change: { change: 'undo', batchId: batch } },
    ]);
    await Promise.all([tell(one), tell(two)]);
    assert.deepEqual(announced(), []);
    pass(MINUTE);
    await Promise.all([tell(one), tell(two)]);
    const [first, ...others] = announced();
    assert.deepEqual(others, []);
    assert.deepEqual(first!.changes.map(({ is, state }) => `${is} ${state}`).sort(), [
      'began failing',
      'happened key_created',
      'happened list_deleted',
      'happened undone',
    ]);
    assert.match(
      first!.text,
      /^weir, main: 1 thing needs attention\n• The source "drop" of main has failed 3 times in a row: it is &lt;gone&gt; @\u200ball/,
    );
    await fail(3, 'refused');
    pass(MINUTE);
    await tell(one);
    assert.deepEqual(
      announced().map(({ changes }) => changes.map(({ is, state }) => [is, state])),
      [[['changed', 'stopped']]],
    );
    // Another goes on where it ends, with what changed meanwhile.
    await one.stop();
    await fail(0);
    pass(MINUTE);
    await tell(two);
    assert.deepEqual(
      announced().map(({ attention, changes }) => [attention, changes.map(({ is, state, key }) => [is, state, key])]),
      [[0, [['ended', 'stopped', `source/${made.id}`]]]],
    );
    pass(MINUTE);
    await tell(two);
    assert.deepEqual(announced(), []);
    assert.ok(clock.now() > 0);
  });

  test(`D27.6, D27.7, D39.6 store ${name}: who does not take a message gets it again with its id, also from another process; after a day it is given up`, async (t) => {
    const { store, again, query, workspace, receiver, logged, teller, pass, tell, announced } = await telling(t, driver);
    const [one, two] = [teller(store), teller(await again())];
    const { id } = await store.createWebhook(workspace.id, hook('soc', `${receiver.url}/soc`));
    receiver.answer = (response) => void response.writeHead(503, { 'retry-after': '120' }).end('busy\n');
    await tell(one);
    pass(119_000);
    await tell(one);
    const [first, ...none] = announced();
    assert.deepEqual(none, []);
    // It stands still, and its lease runs out: the answer that it is still given is not written.
    let answer: () => void = () => assert.fail('it was not asked');
    receiver.answer = (response) => {
      answer = () => taken(response);
    };
    pass(1000);
    await one.tick(true);
    while (receiver.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const [held] = await query("SELECT holder FROM leases WHERE name = 'webhooks'");
    await store.releaseLease('webhooks', String(held!.holder));
    receiver.answer = taken;
    await tell(two);
    answer();
    await one.idle();
    assert.deepEqual(
      announced().map((each) => each.id),
      [first!.id, first!.id],
    );
    const tries = await store.webhookDeliveries(id);
    assert.deepEqual(
      tries.map(({ outcome, status, text }) => [outcome, status, text]),
      [
        ['delivered', 204, ''],
        ['failed', 503, 'busy'],
      ],
    );
    // A day without anybody: what happened meanwhile comes behind what is given up.
    await store.createKey(workspace.id, { ...KEY, hash: randomBytes(32), name: 'a' });
    receiver.answer = (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    pass(MINUTE);
    await tell(two);
    await store.createKey(workspace.id, { ...KEY, hash: randomBytes(32), name: 'b' });
    for (let hours = 0; hours < 25; hours += 1) {
      pass(60 * MINUTE);
      await tell(two);
    }
    const failed = announced().map((each) => [each.id, each.changes.map(({ text }) => text.split(' by ')[0])] as const);
    assert.deepEqual([...new Set(failed.map(([, texts]) => texts.join()))], ['the key "a" was created', 'the key "b" was created']);
    assert.equal(new Set(failed.map(([message]) => message)).size, 2);
    assert.ok((await store.webhookDeliveries(id)).some(({ outcome, status }) => outcome === 'given up' && status === 302));
    // Of the one that was tried so often, once.
    assert.deepEqual(
      logged.filter((text) => /failed 5 times/.test(text)),
      [`the webhook ${id} failed 5 times in a row: 302; see weir webhook show`],
    );
  });

  test(`D47.2 store ${name}: a webhook that failed five times in a row needs attention: the others are sent that, it is not`, async (t) => {
    const { store, workspace, receiver, teller, clock, pass, tell } = await telling(t, driver);
    const one = teller(store);
    const { id } = await store.createWebhook(workspace.id, hook('broken', `${receiver.url}/broken`));
    await store.createWebhook(workspace.id, hook('soc', `${receiver.url}/soc`));
    receiver.answer = (response, { url }) => (url === '/soc' ? taken(response) : void response.writeHead(500).end());
    for (let minutes = 0; minutes < 6; minutes += 1) {
      await tell(one);
      pass(10 * MINUTE);
    }
    await tell(one);
    const failing = { id, name: 'broken', workspaceId: workspace.id, failures: 7 };
    assert.deepEqual(await store.failingWebhooks(workspace.id), [failing]);
    const status = alertsOf(
      factsOf(await workspaceParts({ store, workspaceId: workspace.id, guardRails: NO_GUARD_RAILS, ...clock }, SERVICE, [])),
    );
    assert.deepEqual(
      status.filter(({ key }) => key.startsWith('webhook/')),
      [
        {
          key: `webhook/${id}`,
          state: 'failing',
          text: 'the webhook "broken" of main has failed 7 times in a row (docs/webhooks.md)',
          urgent: true,
        },
      ],
    );
    const about = () =>
      receiver.received
        .splice(0)
        .flatMap(({ path, json }) => json.changes.flatMap(({ key, is }) => (key === `webhook/${id}` ? [[path, is]] : [])));
    assert.deepEqual(about(), [['/soc', 'began']]);
    receiver.answer = taken;
    pass(60 * MINUTE);
    await tell(one);
    await tell(one);
    pass(MINUTE);
    await tell(one);
    assert.deepEqual([await store.failingWebhooks(null), about()], [[], [['/soc', 'ended']]]);
  });

  test(`D27.8, D27.9 store ${name}: what processes know is told by whoever tells; of a feed that nobody knows nothing is said`, async (t) => {
    const { store, workspace, receiver, parts, teller, pass, tell, announced } = await telling(t, driver);
    await store.createWebhook(workspace.id, hook('soc', `${receiver.url}/soc`));
    const feed = { workspaceId: workspace.id, feedId: null, name: 'main', action: 'block', family: 'both', rated: false } as const;
    const size = { facts: { entryCount: 95, entryLimit: 100, nextExpiry: 0 }, builtAt: T0, staleSince: undefined };
    let open: ProcessStatus['feeds'][number]['open'] = [{ kind: 'near_cap', text: 'has 95 entries', since: T0 }];
    let feeds: ProcessStatus['feeds'] = [];
    const own = async (): Promise<ProcessStatus> => ({
      ...{ pid: 7, url: 'http://127.0.0.1:1', roles: ['feeds'], startedAt: T0 },
      checks: { stream: { ok: false, reason: 'no broker at 10.0.0.1' } },
      feeds,
    });
    const report = startReports(store, 'other', own, { hasOwn: true, log: () => undefined });
    parts.add(report);
    const one = teller(store, `${receiver.url}/service`);
    const next = async () => {
      pass(MINUTE);
      await report.look();
      await tell(one);
      const all = receiver.received
        .splice(0)
        .map(({ path, json }) => [path, json.changes.map(({ is, state }) => `${is} ${state}`)] as const);
      return Object.fromEntries(all);
    };
    feeds = [{ ...feed, ...size, open }];
    const { '/soc': begun, '/service': service } = await next();
    assert.deepEqual(begun, ['began away', 'began not_ready', 'began near_cap', 'happened webhook_created']);
    assert.deepEqual(service, ['began away', 'began not_ready']);
    // The process was restarted, and nobody has asked for the feed.
    feeds = [];
    assert.deepEqual(await next(), {});
    open = [{ kind: 'over_cap', text: 'is over its cap', since: T0 }];
    feeds = [{ ...feed, ...size, open }];
    assert.deepEqual(await next(), { '/soc': ['changed over_cap'] });
    feeds = [{ ...feed, ...size, open: [] }];
    assert.deepEqual(await next(), { '/soc': ['ended over_cap'] });
    // A feed that is deleted needs none.
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    feeds = [{ ...feed, ...size, feedId: list.id, open }];
    assert.deepEqual(await next(), { '/soc': ['began over_cap'] });
    feeds = [];
    await store.deleteList(workspace.id, list.id);
    assert.deepEqual(await next(), { '/soc': ['ended over_cap', 'happened list_deleted'] });
    assert.deepEqual(announced(), []);
  });
}

const SOURCE = {
  name: 'drop',
  list: NO_SETTINGS,
  secret: null,
  url: 'https://lists.example/drop',
  purpose: 'block',
  every: 3600,
  reading: PLAIN_READING,
  guards: DEFAULT_GUARDS,
  credential: null,
  copies: [],
  catalogue: null,
} as const;

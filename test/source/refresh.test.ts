/** Lists that come by themselves (SPEC D23.10 and following), from good, careless and hostile servers, over the embedded engine. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PLAIN_READING } from '../../src/account/source.ts';
import { expiresAt, stateOf } from '../../src/account/source-state.ts';
import type { AddressChange } from '../../src/source/addresses.ts';
import { temporaryFolder } from '../support/folder.ts';
import {
  type Answer,
  address,
  alternating,
  bare,
  bomb,
  cut,
  dripping,
  huge,
  list,
  listServer,
  ownClock,
  redirect,
  short,
  silent,
  status,
} from '../support/list-server.ts';
import { DAY, HOUR, MINUTE, sourceWorld } from '../support/source-world.ts';
import { eventually } from '../support/weir.ts';

const world = await sourceWorld({ DATA_DIR: temporaryFolder({ after }), SOURCE_MAX_MB: '4' });
const server = await listServer();
after(async () => {
  await world[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => address(from + n));
const text = (from: number, to: number) => `${lines(from, to).join('\n')}\n`;

test('D23.10, D23.20 a list is what its origin has, as changes; what has not changed is one request and no batch', async () => {
  server.set('/plain', list(text(0, 200)));
  const source = await world.add('plain', { url: `${server.url}/plain` });
  await world.run();
  assert.deepEqual(await world.rules(source), lines(0, 200).sort());
  assert.equal(world.state(source).entries, 200);
  const batches = (await world.base.store.batches(world.workspaceId, { limit: 100 })).length;
  const { etag, confirmedAt } = world.state(source);
  await world.next(source);
  assert.equal(server.asked.get('/plain'), 2);
  assert.equal(server.headers.get('/plain')!['if-none-match'], etag);
  assert.equal((await world.base.store.batches(world.workspaceId, { limit: 100 })).length, batches);
  assert.ok(world.state(source).confirmedAt! >= confirmedAt! + HOUR);

  server.set('/plain', list(text(10, 210)));
  await world.next(source);
  assert.deepEqual(await world.rules(source), lines(10, 210).sort());
  const [run] = await world.base.store.sourceRuns(world.workspaceId, source.id);
  assert.deepEqual([run!.outcome, run!.added, run!.removed], ['applied', 10, 10]);
});

test('D41.17 a source reads the column, and skips the lines, that it is set to', async () => {
  server.set('/report', list(`Report, of today\nnothing else\nsrc_ip,dst_ip\n198.51.100.1,192.0.2.1\n198.51.100.2,192.0.2.1\n`));
  const source = await world.add('report', { url: `${server.url}/report`, reading: { ...PLAIN_READING, column: 'src_ip', skip: 2 } });
  await world.run();
  assert.deepEqual(await world.rules(source), ['198.51.100.1', '198.51.100.2']);
});

test('D47.13 a slow comparison of one workspace delays no source of another', async (t) => {
  const { store } = world.base;
  const [organization] = await store.organizations();
  const other = await store.createWorkspace(organization!.id, 'slow');
  const near = await listServer();
  t.after(() => near[Symbol.asyncDispose]());
  server.set('/slow', list(text(0, 50)));
  near.set('/quick', list(text(50, 60)));
  const [comparing, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  world.holds.set(other.id, async () => {
    comparing.resolve();
    await held.promise;
  });
  t.after(() => world.holds.clear());
  const slow = await world.add('slow', { url: `${server.url}/slow` }, other.id);
  await world.refresher.tick(true);
  await comparing.promise;
  const quick = await world.add('quick', { url: `${near.url}/quick` });
  await eventually(async () => {
    await world.refresher.tick(true);
    assert.deepEqual(await world.rules(quick), lines(50, 60).sort());
  });
  assert.equal(world.state(slow).entries, 0);
  held.resolve();
  await world.refresher.idle();
  assert.equal(world.state(slow).entries, 50);
  await store.deleteSource(other.id, slow.id, { forGood: true });
});

test('D23.12, D23.22 after a clock that was ahead was set back, what is asked is fetched at once, and the next fetch comes after the interval', async () => {
  server.set('/ahead', list(text(0, 20)));
  const source = await world.add('ahead', { url: `${server.url}/ahead` });
  world.setClock(DAY);
  await world.run();
  world.setClock(-DAY);
  world.pass(MINUTE);
  await world.ask(source, 'refresh');
  await world.run();
  assert.equal(server.asked.get('/ahead'), 2);
  world.setClock(DAY);
  world.pass(HOUR);
  await world.run();
  world.setClock(-DAY);
  world.pass(MINUTE);
  await world.run();
  assert.equal(server.asked.get('/ahead'), 4);
});

const runs = async ({ id }: { readonly id: string }) => await world.base.store.sourceRuns(world.workspaceId, id);
test('D23.10, D23.15 whatever a careless or hostile server does, the list is the last good one', async (t) => {
  const good = text(0, 200);
  const answers: Readonly<Record<string, readonly [answer: Answer, fault: RegExp]>> = {
    'cut in mid-line': [cut(good, 705, true), /it was cut short/],
    'cut without a length': [cut(good, 705, false), /it was cut short/],
    'short in mid-address': [short(good, good.length - 3), /its last line is incomplete/],
    bomb: [bomb(64), /longer than 4194304 bytes/],
    '500 MB': [huge(500), /longer than 4194304 bytes/],
    '500 MB packed': [huge(500, true), /longer than 4194304 bytes/],
    HTML: [bare('<!DOCTYPE html><html><body>Just a moment…</body></html>'), /web page/],
    'moved into the house': [redirect('http://169.254.169.254/latest/meta-data/'), /169\.254\.169\.254 is in a private/],
    'too many': [status(429), /the server answers 429/],
    broken: [status(500), /the server answers 500/],
    'signals, not a list': [bare('{"kind":"access_rule","op":"upsert"}\n'), /neither a list nor JSON/],
    'fewer than it says': [bare(`# Entries : 4,000\n${good}`), /it is truncated/],
    'too many entries': [bare(text(0, 15_000)), /more than 10000 entries/],
  };
  const names = Object.keys(answers);
  const sources = [];
  for (const [i, name] of names.entries()) {
    server.set(`/hostile/${i}`, list(good));
    sources.push(await world.add(`hostile ${i}`, { url: `${server.url}/hostile/${i}`, guards: { maxEntries: 10_000 }, purpose: 'allow' }));
    assert.ok(name);
  }
  await world.run();
  for (const [i, name] of names.entries()) server.set(`/hostile/${i}`, answers[name]![0]);
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  world.pass(HOUR + MINUTE);
  await world.run();
  clearInterval(watch);
  t.diagnostic(`memory: ${Math.round((most - before) / 2 ** 20)} MiB more`);
  for (const [i, name] of names.entries()) {
    const { fault, failures, held } = world.state(sources[i]!);
    assert.match(fault ?? '', answers[name]![1], name);
    assert.deepEqual([failures, held], [1, null], name);
    assert.deepEqual(await world.rules(sources[i]!), lines(0, 200).sort(), name);
  }
  for (const each of sources) await world.base.store.pauseSource(world.workspaceId, each.id, true);
  assert.ok(most - before < 100 * 2 ** 20, `${most - before} bytes more`);
});

test('D23.10 a server that is silent or drips has SOURCE_SECONDS', async () => {
  await using hasty = await sourceWorld({ DATA_DIR: temporaryFolder({ after }), SOURCE_SECONDS: '1' });
  server.set('/silent', silent);
  server.set('/dripping', dripping(text(0, 200), 20));
  const sources = [];
  for (const name of ['silent', 'dripping']) sources.push(await hasty.add(name, { url: `${server.url}/${name}` }));
  await hasty.run();
  for (const each of sources) {
    const { fault, failures } = hasty.state(each);
    assert.match(fault ?? '', /it takes longer than 1 s/);
    assert.deepEqual([failures, await hasty.rules(each)], [1, []]);
  }
});

test('D23.13 a server that says when is asked then, and one that says no is not asked again until somebody resumes', async () => {
  server.set('/busy', status(429, { 'retry-after': '7200' }));
  server.set('/gone', status(403));
  const [busy, gone] = [await world.add('busy', { url: `${server.url}/busy` }), await world.add('gone', { url: `${server.url}/gone` })];
  await world.run();
  const wait = world.state(busy).nextAt - world.now();
  assert.ok(wait > 7_190_000 && wait <= 7_200_000, String(wait));
  assert.equal(world.state(gone).stop, 'refused');
  world.pass(30 * DAY);
  await world.run();
  assert.equal(server.asked.get('/gone'), 1);
  await world.base.store.pauseSource(world.workspaceId, gone.id, false);
  server.set('/gone', list(text(0, 3)));
  await world.run();
  assert.deepEqual(await world.rules(gone), lines(0, 3).sort());
  assert.equal(world.state(gone).stop, null);
  assert.deepEqual(
    (await runs(gone)).map(({ outcome }) => outcome),
    ['applied', 'stopped'],
  );
});

test('D23.16, D23.17 a poisoned refresh is held with its difference; accepted it is that very content, discarded it is not asked about again', async () => {
  server.set('/poison', list(text(0, 300)));
  const source = await world.add('poison', { url: `${server.url}/poison` });
  await world.run();
  server.set('/poison', list(text(1000, 1600)));
  const { held } = await world.next(source);
  assert.match(held!.reason, /300 of 300 entries would be removed, more than 50 %; 600 would be added to the 300 that there are/);
  assert.deepEqual([held!.difference!.added, held!.difference!.removed], [600, 300]);
  assert.deepEqual(await world.rules(source), lines(0, 300).sort());
  // It is still held when it comes again, also after its server has moved on.
  await world.next(source);
  assert.equal(world.state(source).held!.replacement, held!.replacement);
  server.set('/poison', bare('<html>'));
  await world.next(source);
  await world.ask(source, 'accept');
  await world.run();
  assert.deepEqual(await world.rules(source), lines(1000, 1600).sort());
  assert.deepEqual([world.state(source).held, (await world.record(source)).asked], [null, null]);
  assert.equal((await runs(source))[0]!.outcome, 'applied');

  server.set('/poison', list(text(5000, 5100)));
  await world.next(source);
  assert.ok(world.state(source).held !== null);
  await world.ask(source, 'discard');
  await world.run();
  await world.next(source);
  await world.next(source);
  assert.equal(world.state(source).held, null);
  assert.deepEqual(await world.rules(source), lines(1000, 1600).sort());
  // What is good again needs nobody.
  server.set('/poison', list(text(1001, 1601)));
  await world.next(source);
  assert.deepEqual(await world.rules(source), lines(1001, 1601).sort());
});

test('D23.16 comments only, faults among entries, wide networks and countries are held; what guard rails refuse is left out', async () => {
  const cases: Readonly<Record<string, readonly [before: string, after: string, reason: RegExp]>> = {
    'comments only': [text(0, 50), '# this list has moved\n; and is empty\n', /it is empty/],
    faults: [text(0, 50), `${text(0, 50)}not an address\n`, /1 of 51 entries cannot be used, more than 0 %: line 51/],
    wide: [text(0, 50), `${text(0, 50)}16.0.0.0/6\n`, /1 networks are wider than it may have, such as 16\.0\.0\.0\/6/],
    countries: ['country\nDE\n', '', /whole countries or ASNs: 1 country/],
  };
  const sources = new Map<string, Awaited<ReturnType<typeof world.add>>>();
  for (const [name, [before]] of Object.entries(cases)) {
    server.set(`/held/${name.replace(' ', '-')}`, list(before));
    const reading = { ...PLAIN_READING, format: name === 'countries' ? ('csv' as const) : null };
    sources.set(name, await world.add(`held ${name}`, { url: `${server.url}/held/${name.replace(' ', '-')}`, reading }));
  }
  await world.run();
  for (const [name, [, after]] of Object.entries(cases)) if (after !== '') server.set(`/held/${name.replace(' ', '-')}`, list(after));
  for (const [name, [, after, reason]] of Object.entries(cases)) {
    const source = sources.get(name)!;
    if (after !== '') await world.next(source);
    assert.match(world.state(source).held?.reason ?? world.state(source).fault ?? 'not held', reason, name);
    assert.deepEqual(await world.rules(source), after === '' ? [] : lines(0, 50).sort(), name);
  }
});

test('D44.2 a refresh that changes most of the addresses is held, however few entries; the first one, and one that changes less, are not', async () => {
  server.set('/addresses', list(text(0, 2000)));
  server.set('/addresses/wide', list(`${text(0, 20)}60.0.0.0/8\n`));
  const source = await world.add('addresses', { url: `${server.url}/addresses` });
  const wide = await world.add('addresses wide', { url: `${server.url}/addresses/wide` });
  await world.run();
  assert.deepEqual([world.state(wide).held, (await world.rules(wide)).length], [null, 21]);
  server.set('/addresses', list(`${text(0, 2000)}60.0.0.0/8\n`));
  const { held } = await world.next(source);
  assert.match(
    held!.reason,
    /^it would block 16,779,216 IPv4 addresses instead of 2,000 \(16,777,216 added, .*60\.0\.0\.0\/8\), more than 50 %$/,
  );
  const [row] = held!.difference!.addresses as AddressChange[];
  assert.deepEqual([row!.before, row!.added, row!.widest], [2000, 2 ** 24, ['60.0.0.0/8']]);
  assert.equal((await world.rules(source)).length, 2000);
  // It goes again, and so does most of what the other list has.
  server.set('/addresses', list(`${text(0, 2000)}203.0.113.0/24\n`));
  server.set('/addresses/wide', list(text(0, 20)));
  await world.next(source);
  await world.next(wide);
  assert.equal(world.state(source).held, null);
  assert.match(
    world.state(wide).held!.reason,
    /^it would block 20 IPv4 addresses instead of 16,777,236 \(0 added, 16,777,216 removed\), more than 50 %$/,
  );
  await world.ask(wide, 'accept');
  await world.run();
  assert.deepEqual([world.state(wide).held, (await world.rules(wide)).length], [null, 20]);
});

test('D23.18 undoing a refresh gives what was before it; the content that was undone does not come again, and the next other one is held', async () => {
  server.set('/undone', list(text(0, 100)));
  const source = await world.add('undone', { url: `${server.url}/undone` });
  await world.run();
  server.set('/undone', list(text(3, 103)));
  const { replacement } = await world.next(source);
  const undone = await world.undo(replacement!);
  assert.deepEqual(await world.rules(source), lines(0, 100).sort());
  await world.next(source);
  await world.next(source);
  assert.deepEqual(await world.rules(source), lines(0, 100).sort());
  assert.match((await runs(source))[0]!.text, /the one that was undone by batch/);
  server.set('/undone', list(text(4, 104)));
  await world.next(source);
  assert.match(world.state(source).held!.reason, new RegExp(`the last refresh was undone by batch (${undone.join('|')})`));
  await world.ask(source, 'accept');
  await world.run();
  assert.deepEqual(await world.rules(source), lines(4, 104).sort());
});

test('D44.10, D44.11 a source of which a refresh was undone, also in part, is undone until its list is what its origin has; entries are those of the list', async () => {
  const { store } = world.base;
  const told = async () => {
    const record = await world.record(source);
    return [stateOf(record.source, record.state, world.now()), record.state.entries];
  };
  server.set('/parts', list(text(0, 3000)));
  const source = await world.add('parts', { url: `${server.url}/parts` });
  await world.run();
  server.set('/parts', list(text(1200, 4200)));
  const { replacement } = await world.next(source);
  assert.deepEqual(await told(), ['ok', 3000]);
  const { batches } = JSON.parse((await store.replacement(world.workspaceId, replacement!))!.head) as { batches: string[] };
  // The first of its batches: 1,000 of the 1,200 that came.
  const undone = await world.undo([batches[0]!]);
  assert.equal((await told())[0], 'undone', 'at once');
  await world.run();
  assert.deepEqual([await told(), (await world.rules(source)).length], [['undone', 2000], 2000]);
  for (let n = 0; n < 2; n += 1) await world.next(source);
  assert.match((await runs(source))[0]!.text, /the one that was undone by batch/);
  assert.deepEqual(await told(), ['undone', 2000]);
  // The undo is undone.
  const redone = await world.undo(undone);
  await world.run();
  assert.deepEqual([await told(), (await world.rules(source)).length], [['ok', 3000], 3000]);
  for (let n = 0; n < 2; n += 1) await world.next(source);
  assert.deepEqual([(await runs(source))[0]!.text, world.state(source).undone], ['', null]);
  // And that once more, and then by all of the refresh: what is accepted is what the list has.
  await world.undo(redone);
  await world.undo(replacement!);
  await world.run();
  assert.deepEqual(await told(), ['undone', 3000]);
  assert.deepEqual(await world.rules(source), lines(0, 3000).sort());
  server.set('/parts', list(text(1201, 4201)));
  await world.next(source);
  assert.equal((await told())[0], 'held');
  await world.ask(source, 'accept');
  await world.run();
  assert.deepEqual([await told(), await world.rules(source)], [['ok', 3000], lines(1201, 4201).sort()]);
});

test('D44.12 a content that the list has already is never held, also where it was held, or a refresh was undone', async () => {
  const [before, after] = [text(0, 100), text(60, 160)];
  server.set('/equal', list(before));
  const source = await world.add('equal', { url: `${server.url}/equal` });
  await world.run();
  server.set('/equal', list(after));
  await world.next(source);
  await world.ask(source, 'accept');
  await world.run();
  const { replacement } = world.state(source);
  server.set('/equal', list(before));
  assert.match((await world.next(source)).held!.reason, /60 of 100 entries would be removed/);
  await world.undo(replacement!);
  assert.deepEqual(await world.rules(source), lines(0, 100).sort());
  await world.next(source);
  const { held, undone, digest, confirmedAt } = world.state(source);
  assert.deepEqual([held, undone, digest !== null, world.now() - confirmedAt! < MINUTE], [null, null, true, true]);
  const [run] = await runs(source);
  assert.deepEqual([run!.outcome, run!.added, run!.removed], ['applied', 0, 0]);
  // Other bytes with the same entries, behind another undo.
  server.set('/equal', list(text(1, 101)));
  await world.undo((await world.next(source)).replacement!);
  server.set('/equal', list(`# again\n${before}`));
  await world.next(source);
  assert.deepEqual([world.state(source).held, world.state(source).undone, (await world.rules(source)).length], [null, null, 100]);
});

test('D44.13 a refresh that is asked for while one is under way, or while something else is asked, is done behind it', async () => {
  const source = await world.add('twice', { url: `${server.url}/twice` });
  const answered = Promise.withResolvers<void>();
  server.set('/twice', (request, response) => void answered.promise.then(() => list(text(0, 5))(request, response)));
  await world.ask(source, 'refresh');
  await world.refresher.tick(true);
  await eventually(() => assert.equal(server.asked.get('/twice'), 1));
  world.pass(1);
  await world.ask(source, 'refresh');
  await world.refresher.tick(true);
  server.set('/twice', list(text(0, 7)));
  answered.resolve();
  await world.refresher.idle();
  assert.equal((await world.record(source)).asked?.what, 'refresh');
  world.pass(MINUTE);
  await world.run();
  assert.deepEqual([server.asked.get('/twice'), (await world.rules(source)).length, (await world.record(source)).asked], [2, 7, null]);

  server.set('/twice', list(''));
  await world.next(source);
  server.set('/twice', list(text(0, 9)));
  await world.ask(source, 'refresh');
  world.pass(1);
  await world.ask(source, 'discard');
  world.pass(MINUTE);
  await world.run();
  assert.deepEqual([(await world.record(source)).asked, (await world.rules(source)).length], [null, 9]);
});

test('D44.7 a source that is brought back with its list empties it where its content was not confirmed for too long, and so does one whose emptying was undone', async () => {
  const { store } = world.base;
  server.set('/back', list(text(0, 30)));
  const source = await world.add('back', { url: `${server.url}/back` });
  await world.run();
  world.pass(2 * DAY);
  await store.deleteSource(world.workspaceId, source.id);
  await store.restoreDeleted(world.workspaceId, source.listId, {});
  await world.run();
  const back = await world.record(source);
  assert.deepEqual([back.source.isPaused, back.state.entries, world.state(source).countedFor], [true, 30, null]);
  assert.ok(Math.abs(expiresAt(back.source, back.state)! - (world.now() + 5 * DAY)) < HOUR);
  world.pass(5 * DAY);
  await world.run();
  assert.deepEqual(await world.rules(source), []);
  const [run] = await runs(source);
  assert.deepEqual([run!.outcome, world.state(source).entries, world.state(source).expired], ['expired', 0, true]);
  // Undoing that gives the list as much time again, by the clock of the store, which this world has left behind.
  await world.undo(run!.replacement!);
  const { state } = await world.record(source);
  assert.deepEqual([(await world.rules(source)).length, expiresAt(source, state)], [30, state.undone!.at + 7 * DAY]);
  // It is counted, and then emptied.
  for (let n = 0; n < 2; n += 1) await world.run();
  assert.deepEqual([await world.rules(source), world.state(source).entries], [[], 0]);
});

test('D23.19 a list whose content is not confirmed for too long is emptied as a whole, told before, and filled again; one that allows is not', async () => {
  const away: Answer = status(500);
  server.set('/stale', list(text(0, 40)));
  const [block, allow] = [
    await world.add('stale', { url: `${server.url}/stale` }),
    await world.add('stale allow', { url: `${server.url}/stale`, purpose: 'allow' }),
  ];
  await world.run();
  server.set('/stale', away);
  world.pass(3.6 * DAY);
  await world.run();
  assert.equal(stateOf(block, world.state(block), world.now()), 'stale');
  world.pass(3.3 * DAY);
  await world.run();
  assert.equal((await world.rules(block)).length, 40);
  world.pass(0.2 * DAY);
  await world.run();
  assert.deepEqual(await world.rules(block), []);
  assert.equal((await world.rules(allow)).length, 40);
  assert.deepEqual([world.state(block).expired, (await runs(block)).some(({ outcome }) => outcome === 'expired')], [true, true]);
  world.pass(DAY);
  await world.run();
  server.set('/stale', list(text(0, 40)));
  await world.next(block);
  assert.deepEqual(await world.rules(block), lines(0, 40).sort());
  assert.equal(world.state(block).expired, false);
});

test('D23.14 one download serves all who ask for an address, and one address of a host is asked at a time', async () => {
  const answer = list(text(0, 20));
  for (const path of ['/shared', '/other']) server.set(path, (...given) => void setTimeout(() => answer(...given), 30));
  const shared = [];
  for (let n = 0; n < 5; n++) shared.push(await world.add(`shared ${n}`, { url: `${server.url}/shared`, every: n === 4 ? 7200 : 3600 }));
  const other = await world.add('other', { url: `${server.url}/other` });
  server.most.clear();
  server.asked.clear();
  await world.run();
  assert.deepEqual([server.asked.get('/shared'), server.asked.get('/other')], [1, 1]);
  await world.next(shared[0]!);
  await world.next(shared[0]!);
  assert.deepEqual([server.asked.get('/shared'), server.headers.get('/shared')!['if-none-match'] !== undefined], [3, true]);
  for (const each of [...shared, other]) assert.equal((await world.rules(each)).length, 20);
});

test("D23.20 alternating contents and a clock of the server's own do no harm: each content is applied, and the same one never twice", async () => {
  server.set('/alternating', alternating(text(0, 100), text(5, 105)));
  server.set('/clock', ownClock(text(0, 10), 1000));
  const [source, clock] = [
    await world.add('alternating', { url: `${server.url}/alternating` }),
    await world.add('clock', { url: `${server.url}/clock` }),
  ];
  await world.run();
  for (const from of [5, 0, 5, 0]) {
    await world.next(source);
    assert.deepEqual(await world.rules(source), lines(from, from + 100).sort());
  }
  await world.next(clock);
  await world.next(clock);
  assert.ok(server.headers.get('/clock')!['if-modified-since']!.includes('2031'));
  assert.equal((await runs(clock)).filter(({ outcome }) => outcome === 'applied').length, 1);
});

test('D23.14 of one workspace two downloads are under way at most: its slow servers hold up nobody else', async () => {
  const slow = await Promise.all(Array.from({ length: 4 }, listServer));
  const other = await world.base.store.createWorkspace((await world.base.store.organizations())[0]!.id, 'patient');
  const ended = Promise.withResolvers<void>();
  for (const each of slow) each.set('/slow', (...given) => void ended.promise.then(() => status(500)(...given)));
  server.set('/quick', list(text(0, 3)));
  for (const [i, each] of slow.entries()) await world.add(`slow ${i}`, { url: `${each.url}/slow` });
  const quick = await world.add('quick', { url: `${server.url}/quick` }, other.id);
  await world.refresher.tick(true);
  await eventually(() => assert.equal(world.state(quick).entries, 3));
  assert.equal(slow.filter((each) => each.asked.has('/slow')).length, 2);
  ended.resolve();
  await world.run();
  assert.equal(slow.filter((each) => each.asked.has('/slow')).length, 4);
  for (const each of slow) await each[Symbol.asyncDispose]();
});

test('D23.14 of collections of TAXII, which are read in memory, one of a workspace is pulled at a time and two in all', async () => {
  const { store } = world.base;
  const [organization] = await store.organizations();
  const slow = await Promise.all(Array.from({ length: 4 }, listServer));
  const ended = Promise.withResolvers<void>();
  for (const each of slow) each.set('/c/', (...given) => void ended.promise.then(() => status(500)(...given)));
  const reading = { ...PLAIN_READING, format: 'taxii' } as const;
  const askedNow = () => slow.map((each) => each.asked.size > 0);
  const made = [];
  // The first two are of one workspace.
  const first = (await store.createWorkspace(organization!.id, 'first')).id;
  for (const [i, each] of slow.entries()) {
    const of = i < 2 ? first : (await store.createWorkspace(organization!.id, `other ${i}`)).id;
    made.push(await world.add(`collection ${i}`, { url: `${each.url}/c/`, reading }, of));
  }
  await world.refresher.tick(true);
  await eventually(() => assert.deepEqual(askedNow(), [true, false, true, false]));
  ended.resolve();
  await world.run();
  assert.deepEqual(askedNow(), [true, true, true, true]);
  for (const each of made) assert.match(world.state(each).fault!, /answers 500/);
  for (const each of slow) await each[Symbol.asyncDispose]();
});

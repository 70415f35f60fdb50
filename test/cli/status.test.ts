/** `weir status` and `weir send --dry-run` beside a real server. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { statusText } from '../../src/cli/state/status-text.ts';
import { serviceStatus } from '../../src/manage/alerts.ts';
import { frozenJson, stoppedJson } from '../../src/manage/status.ts';
import { readStatusFiles } from '../../src/runtime/ledgers/status-file.ts';
import { command, commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, postSignals } from '../support/http.ts';
import { eventually, KEY, PATIENT, startWeir, type Weir } from '../support/weir.ts';

const DAY = 86_400_000;
const folder = temporaryFolder({ after });
const geo = smallGeo(folder);
const settings = { ...geo, DATA_DIR: join(folder, 'data'), MIN_PREFIX_V4: '8', FEED_REBUILD_SECONDS: '0' };
const block = (ip: string) => ({ type: 'access_rules', action: 'block', ip });

/** What `weir status` prints for people, and its exit code. */
async function status(more: Record<string, string> = {}): Promise<{ code: number; lines: string[] }> {
  const { code, stdout, stderr } = await command(['status'], { ...settings, ...more });
  assert.equal(stderr, '');
  return { code, lines: stdout.split('\n') };
}

suite('weir status', () => {
  let server: Weir;
  before(async () => {
    server = await startWeir({ ...settings, BOOTSTRAP_API_KEY: KEY });
  });
  after(() => server.kill('SIGKILL'));

  test('D10.16, D10.22 exit code 0 when nothing needs attention, 1 with a line for each thing that does', async () => {
    const { code, lines } = await eventually(async () => {
      const found = await status();
      assert.equal(found.code, 0, found.lines.join('\n'));
      return found;
    });
    assert.deepEqual([code, lines[0]], [0, 'nothing needs attention']);
    const shown = Object.fromEntries(lines.filter((line) => /^\w[\w ]*: /.test(line)).map((line) => line.split(/: +/) as [string, string]));
    assert.deepEqual(
      [shown.store, shown.stream, shown.landing, shown['dead letters'], shown['guard rails'], shown['unused keys']],
      ['embedded', 'embedded', '0 messages, 0 seconds behind', '0', 'on', '0 not seen for a week'],
    );
    assert.match(
      lines.find((line) => line.startsWith('process:'))!,
      new RegExp(`${server.pid} on ${server.url}: signals, consumer, feeds, manage, sources, since `),
    );

    // What the server is set to counts, not what the command's environment says or leaves out.
    assert.equal((await status({ MIN_PREFIX_V4: '0' })).code, 0);

    const old = new Date(Date.now() - 91 * DAY);
    utimesSync(geo.GEO_ASN_FILE, old, old);
    const aged = await status();
    assert.match(aged.lines[1]!, /^ {2}ASN data is 91 days old/);
    assert.equal(aged.code, 3);
    utimesSync(geo.GEO_ASN_FILE, new Date(), new Date());
  });

  test('D36.1 while the store is away the stream and what servers know are told all the same, and no stream is made to be asked', async () => {
    const { code, lines } = await status({ DATABASE_URL: 'postgres://127.0.0.1:1/weir' });
    assert.equal(code, 1);
    assert.match(lines[1]!, /^ {2}the store does not answer: PostgreSQL does not answer: /);
    assert.equal(lines[2], '', 'nothing of the stream');
    for (const line of [
      'store:        PostgreSQL, does not answer',
      'stream:       embedded',
      'landing:      0 messages, 0 seconds behind',
    ])
      assert.ok(lines.includes(line), lines.join('\n'));

    const empty = join(folder, 'empty');
    mkdirSync(empty);
    assert.match((await status({ DATA_DIR: empty })).lines[2]!, /^ {2}the stream does not answer: there is no stream in DATA_DIR /);
    assert.ok(!readdirSync(empty).includes('stream.db'));
    const elsewhere = await status({ DATA_DIR: join(folder, 'nowhere') });
    assert.equal(elsewhere.code, 1);
    assert.match(elsewhere.lines[1]!, /^ {2}the store does not answer: /);
    assert.equal(existsSync(join(folder, 'nowhere')), false, 'a command that reads makes nothing');
  });

  test('D10.20, D10.16, D42.9 a key that is in use and ends soon is told, counted, and put off with a reason; one that nobody uses, or that ends later, is not', async () => {
    const day = 86_400;
    const make = (name: string, days: number) =>
      commandJson<{ id: string; key: string }>(
        ['key', 'create', '--name', name, '--workspace', 'default', '--expires-in', String(days * day)],
        settings,
      );
    const { id, key } = await make('firewall', 13);
    await make('idle', 13);
    const { key: later } = await make('later', 15);
    const db = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'), PATIENT);
    db.exec(`UPDATE keys SET last_used_at = ${Date.now()} WHERE name IN ('firewall', 'later')`);
    assert.ok(key !== later);
    const { code, lines } = await status();
    assert.match(lines[1]!, /^ {2}the key "firewall" of default is in use and expires at \S+Z \(docs\/keys\.md\)$/);
    assert.deepEqual([code, lines.filter((line) => line.startsWith('  the key')).length], [3, 1]);
    const headers = { ...bearer(KEY), 'x-actor': 'Jana' };
    const asked = { key: `key/${id}`, reason: 'next\nweek', expires_in: 3600 };
    const made = await ask(server.url, '/v1/manage/attention/snoozes', { method: 'POST', headers, body: JSON.stringify(asked) });
    assert.equal(made.status, 200, made.text);
    const snoozed = await status();
    assert.match(snoozed.lines[2]!, /^ {4}snoozed in default until \S+Z by Jana: next week$/, 'D42.9');
    assert.deepEqual([snoozed.lines[1], snoozed.code], [lines[1], 3]);
    const { attention, snoozes } = JSON.parse((await command(['status', '--json'], settings)).stdout);
    assert.deepEqual([snoozes.length, snoozes[0].attention, snoozes[0].workspace, snoozes[0].actor], [1, attention[0], 'default', 'Jana']);
    db.exec("UPDATE keys SET revoked_at = 1 WHERE name IN ('firewall', 'idle', 'later')");
    assert.equal((await status()).code, 0);
    db.close();
  });

  test('D10.16, D10.21 a feed over its cap, a dead letter and a key that was not seen for a week are told', async () => {
    await commandJson(['list', 'create', 'edge', '--max-entries', '2', '--workspace', 'default'], settings);
    const entries = ['192.0.2.1', '192.0.2.9', '192.0.2.17'].map(block);
    assert.equal((await postSignals(server.url, KEY, entries, '/v1/signal?list=edge')).status, 200);
    await eventually(async () => assert.equal((await getFeed(server.url, KEY, '/edge')).status, 413));
    const db = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'), PATIENT);
    db.exec(
      `INSERT INTO dead_letters (at, reason, stream_id, "partition", record_offset, timestamp, key, headers, value) VALUES (${Date.now()}, 'r', 's', 0, 0, 0, 'k', '{}', 'v')`,
    );
    db.exec(`UPDATE keys SET created_at = 0, last_used_at = ${Date.now() - 8 * DAY}`);
    await eventually(async () => {
      const { code, lines } = await status();
      assert.equal(code, 1);
      assert.match(
        lines[1]!,
        /^ {2}the block feed "edge" of default is over its cap of 2 with 3 entries: it is not published \(413\) \(since /,
      );
      assert.equal(lines[2], '  1 dead letters (weir dead-letter ls)');
      assert.ok(lines.includes('unused keys:  1 not seen for a week'), lines.join('\n'));
      assert.ok(
        lines.some((line) => /^default +edge +block +both +3 +2 +150%, not published +-$/.test(line)),
        lines.join('\n'),
      );
      assert.ok(
        lines.includes('block feed "edge" of default: Before neighbours are merged, by list: edge 3; by key: bootstrap 3.'),
        lines.join('\n'),
      );
    });
    db.exec('DELETE FROM dead_letters');
    db.close();
  });

  test('D10.14 weir send --dry-run tells what a file would change of feeds, and changes nothing', async () => {
    const env = { ...settings, WEIR_API_KEY: KEY };
    const file = join(folder, 'signals.ndjson');
    const write = (count: number) => {
      const entries = Array.from({ length: count }, (_, i) => block(`10.1.${i >> 7}.${(2 * i) & 255}`));
      writeFileSync(file, [...entries, block('x')].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    };
    const send = (...more: string[]) => command(['send', file, '--url', server.url, '--list', 'edge', '--dry-run', ...more], env);
    write(3);
    const one = await send();
    assert.deepEqual(
      [one.code, one.stdout.split('\n').slice(1)],
      [
        1,
        [
          '3 signals would be processed, 1 failed',
          'edge (block): 3 entries of 2, 3 more',
          'workspace default (block): 3 entries of 131072, 3 more',
          '',
        ],
      ],
    );
    write(1500);
    const { stdout } = await send('--json');
    const { sent, dry_run } = JSON.parse(stdout) as { sent: number; dry_run: { batches: number; feeds: Record<string, unknown>[] } };
    assert.deepEqual([sent, dry_run.batches], [1500, 2]);
    assert.deepEqual(
      dry_run.feeds.map(({ name, entries_before, entries_change, entry_limit }) => [name, entries_before, entries_change, entry_limit]),
      [
        ['edge', 3, 1500, 2],
        ['default', 3, 1500, 131_072],
      ],
    );
    assert.equal((await getFeed(server.url, KEY)).headers['x-feed-entry-count'], '3');
    const refused = await send('--replace');
    assert.deepEqual([refused.code, refused.stderr], [2, 'weir: --dry-run cannot predict --replace; give one of them\n']);
  });

  test('D10.17 a server that has stopped leaves no status; one that was killed is forgotten after 30 seconds', async () => {
    const now = Date.now();
    assert.deepEqual(
      readStatusFiles(settings.DATA_DIR, now).map(({ pid }) => pid),
      [server.pid],
    );
    assert.deepEqual(readStatusFiles(settings.DATA_DIR, now + 60_000), []);
    assert.deepEqual(readStatusFiles(join(folder, 'nowhere'), now), []);
    await server.kill('SIGTERM');
    assert.deepEqual(readStatusFiles(settings.DATA_DIR, now), []);
    const { code, lines } = await status();
    assert.equal(code, 1);
    assert.ok(lines[1]!.startsWith('  no server has written its status to DATA_DIR lately'), lines.join('\n'));
    assert.equal((await status({ MIN_PREFIX_V4: '0' })).lines[2], '  guard rails are off in default (docs/deployment.md)');
  });

  test('D10.16 D42.5 engines that do not answer, red checks and landing that stands still need attention', () => {
    const engine = { kind: 'PostgreSQL', ok: false, reason: 'refused' };
    const process = {
      ...{ pid: 7, url: 'http://127.0.0.1:1', roles: ['consumer'], startedAt: 0, feeds: [] },
      checks: { store: { ok: false, reason: 'down' }, landing: { ok: true, lag_messages: 9, lag_seconds: 61 } },
    };
    const parts = {
      ...{ store: engine, stream: { kind: 'Kafka', ok: true }, processes: [process], lag: null, geo: null, deadLetters: null },
      ...{
        unusedKeys: null,
        endingKeys: null,
        stopped: null,
        fullDevices: null,
        sources: null,
        webhooks: null,
        unguarded: null,
        frozen: null,
        approvals: null,
        workspaces: new Map<string, string>(),
      },
    };
    const at = { workspaceId: 'w', keyId: 'k-1', userAgent: 'fw', address: '192.0.2.1', lastPull: 0 };
    const names = new Map([['w', 'main']]);
    const stopped = [
      stoppedJson({ ...at, kind: 'device', id: 'd', keyName: 'edge-fw', feeds: ['edge', null, 'a', 'b', 'c'] }, names),
      stoppedJson({ ...at, kind: 'bouncer', id: 'b', keyName: null, feeds: [] }, names),
    ];
    assert.deepEqual(
      serviceStatus({ ...parts, processes: [], store: { kind: 'PostgreSQL', ok: true }, stopped }).attention.slice(1),
      [
        'the device "fw" at 192.0.2.1 of main stopped fetching the feed "edge", the workspace\'s feed, the feed "a", 2 more with the key "edge-fw", last at 1970-01-01T00:00:00.000Z (weir device ls)',
        'the bouncer "fw" at 192.0.2.1 of main stopped fetching with the key "k-1", last at 1970-01-01T00:00:00.000Z (weir bouncer ls)',
      ],
      'D42.5',
    );
    assert.deepEqual(serviceStatus(parts).attention, [
      'the store does not answer: refused',
      'store of process 7: down',
      'landing is 61 seconds behind',
    ]);
    const stuck = { ...process, checks: { landing: { ok: false, reason: 'the stream was replaced', lag_messages: 9 } } };
    assert.deepEqual(serviceStatus({ ...parts, store: { ...engine, ok: true }, processes: [stuck] }).attention, [
      'landing: the stream was replaced (9 messages waiting)',
    ]);
    const { attention } = serviceStatus({ ...parts, store: { ...engine, ok: true }, processes: [], lag: { messages: 4, isStuck: true } });
    assert.equal(attention[1], 'landing: nothing lands: no consumer makes progress (4 messages waiting)');
  });

  test('D60.6 a feed frozen for 24 hours is an alert', () => {
    const frozen = (hours: number) =>
      serviceStatus({
        ...{ store: { kind: 'embedded', ok: true }, stream: { kind: 'embedded', ok: true }, lag: null, geo: null, deadLetters: null },
        ...{ processes: [], unusedKeys: null, endingKeys: null, stopped: null, fullDevices: null, sources: null, webhooks: null },
        ...{ unguarded: null, approvals: null, workspaces: new Map() },
        frozen: [
          frozenJson(
            { feedId: null, name: 'main', rules: 1, reason: null, by: {} as never, since: 0, canary: null },
            { id: 'w', name: 'main' },
            hours * 3_600_000,
          ),
        ],
      }).attention.filter((line) => line.includes('frozen'));
    assert.deepEqual(frozen(23), []);
    const text = 'the feed "main" of main has been frozen since 1970-01-01T00:00:00.000Z: new blocks do not reach it (weir feed thaw)';
    assert.deepEqual(frozen(24), [text]);
  });

  test('D10.21 where the entries of a feed come from is one line, in however many families and formats it is nearly full', () => {
    const shares = (entries: number) => {
      const largest = [{ name: 'ids', entries }];
      return { lists: { largest, others: { count: 2, entries: 5 } }, keys: { largest, others: { count: 0, entries: 0 } }, ofRules: null };
    };
    const feed = { workspaceId: 'w', feedId: 'f', name: 'edge', action: 'block', family: 'both', rated: false, open: [] } as const;
    const size = { builtAt: 0, staleSince: undefined };
    const facts = (entryCount: number) => ({ entryCount, entryLimit: 100, nextExpiry: 0 });
    const status = serviceStatus({
      ...{ store: { kind: 'embedded', ok: true }, stream: { kind: 'embedded', ok: true }, lag: null, geo: null, deadLetters: null },
      processes: [
        {
          ...{ pid: 7, url: 'http://127.0.0.1:1', roles: ['feeds'], startedAt: 0, checks: {} },
          feeds: [
            { ...feed, ...size, family: 'v4', facts: facts(91), shares: shares(90) },
            { ...feed, ...size, facts: facts(98), shares: shares(97) },
            { ...feed, ...size, rated: true, facts: facts(95), shares: shares(94) },
          ],
        },
      ],
      ...{
        unusedKeys: null,
        endingKeys: null,
        stopped: null,
        fullDevices: null,
        unguarded: null,
        frozen: null,
        approvals: null,
        sources: null,
        webhooks: null,
        workspaces: new Map([['w', 'main']]),
      },
    });
    assert.deepEqual(
      statusText(status)
        .split('\n')
        .filter((line) => line.includes('by list')),
      ['block feed "edge" of main: Before neighbours are merged, by list: ids 97, 2 more 5; by key: ids 97.'],
    );
  });
});

/** What is told before it hurts (SPEC D10.10 to D10.14): dry runs, and the log of a feed's changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForecastField as FeedRow, ForecastFields } from '../../../src/feed/monitor/forecast-fields.ts';
import type { Status } from '../../../src/manage/alerts.ts';
import { readStatusFiles } from '../../../src/runtime/ledgers/status-file.ts';
import { command } from '../../support/command.ts';
import { postSignals } from '../../support/http.ts';
import { type Random, seededRandom } from '../../support/random.ts';
import { eventually } from '../../support/weir.ts';
import type { Json } from '../../support/world.ts';
import type { Once } from '../engine.ts';
import { event, type FeedWorld, type Space, upsert } from './world.ts';

interface Answer extends ForecastFields {
  readonly success: boolean;
  readonly message: string;
  readonly errors?: string[];
  readonly feeds: readonly FeedRow[] | 'unknown';
}

/** A network of a small place, so that entries meet each other. */
const network = (random: Random): string => {
  const prefix = 28 + random.below(5);
  const host = random.below(64);
  return `198.51.100.${host - (host % 2 ** (32 - prefix))}/${prefix}`;
};

/** An entry of any sort that changes access rules. */
function entry(random: Random): Json {
  const target = random.below(12) === 0 ? { country: 'NL' } : { ip: network(random) };
  const ref = random.below(3) === 0 ? { rule_ref: `r${random.below(6)}` } : {};
  const action = random.below(4) === 0 ? 'allow' : 'block';
  const config = random.below(3) === 0 ? { confidence: ['low', 'critical'][random.below(2)] } : {};
  const op = random.below(3) === 0 ? 'delete' : 'upsert';
  return { kind: 'access_rule', op, ...ref, rule: { target, action, config } };
}

export function forecastTests(feeds: () => FeedWorld, once: Once): void {
  const dryRun = async ({ key }: Pick<Space, 'key'>, entries: readonly Json[], list = '', version = 2): Promise<Answer> => {
    const query = list === '' ? '' : `&list=${list}`;
    await feeds().landed();
    return eventually(async () => {
      const { status, text, headers } = await postSignals(feeds().url(), key, entries, `/v${version}/signal?dry_run=1${query}`);
      assert.ok(status === 200 || status === 206, text);
      assert.equal(headers['x-signal-batch'], undefined);
      const answer = JSON.parse(text) as Answer;
      // On a busy machine.
      assert.notEqual(answer.feeds_reason, 'the entries could not be counted in time');
      return answer;
    });
  };
  const rows = ({ feeds: found }: Answer): readonly FeedRow[] => {
    assert.ok(Array.isArray(found), String(found));
    return found as readonly FeedRow[];
  };
  const feedCommand = ({ id }: Space, ...words: string[]) => feeds().world.json(['feed', ...words, '--workspace', id]);

  test('D10.14 a dry run says of each feed how many entries it has and would have, exactly, in v1 and v2; nothing is stored', async () => {
    const space = await feeds().space();
    const edge = await space.list('edge', '--max-entries', '3');
    await space.list('other');
    const [made] = await feedCommand(space, 'create', 'device', '--list', 'edge', '--format', 'csv_indicator');
    await feedCommand(space, 'create', 'elsewhere', '--list', 'other');
    await space.block(['192.0.2.0', '192.0.2.8'], 'edge');
    const batch = ['192.0.2.1', '192.0.2.16', '192.0.2.32', 'x'].map((ip) => event(ip.length > 1 ? ip : 'XX'));
    const answer = await dryRun(space, batch, 'edge', 1);
    const row = (kind: string, name: string, id: string | null, entry_limit: number) => ({
      ...{ id, kind, name, action: 'block', entries_before: 2, entries_after: 4, entry_limit },
    });
    assert.deepEqual(answer, {
      success: false,
      message: 'Processed 3 entries, 1 failed',
      errors: answer.errors,
      feeds: [
        row('list', 'edge', edge, 3),
        row('workspace', space.name, null, 131_072),
        row('composed', 'device', String(made!.id), 131_072),
      ],
    });
    await space.reads('/edge', '192.0.2.0/32\n192.0.2.8/32\n');
    const gone = await dryRun(space, [event('192.0.2.8', { action: 'unblock' }), event('192.0.2.99', { action: 'unblock' })], 'edge', 1);
    assert.deepEqual(
      rows(gone).map((each) => [each.entries_before, each.entries_after]),
      Array(3).fill([2, 1]),
    );
    const none = await dryRun(space, [{ kind: 'waf_rule', op: 'delete', rule_ref: 'w' }]);
    assert.deepEqual(none, { success: true, message: 'Processed 1 entries, 0 failed', errors: [], feeds: [] });
  });

  test('D55.4 a dry run counts the addresses that a feed serves as networks, and those that it serves as sent', async () => {
    const space = await feeds().space();
    await space.list('edge', '--widen-v4', '24', '--widen-v6', '56');
    await feeds().world.json(['workspace', 'set', space.id, '--protect', '198.51.100.200']);
    const batch = ['192.0.2.1', '192.0.2.7', '198.51.100.9', '2001:db8::1', '203.0.113.0/28'].map((ip) => event(ip));
    const [own] = rows(await dryRun(space, batch, 'edge', 1));
    assert.deepEqual([own!.entries_after, own!.widened], [4, { hosts: 3, as_sent: 1 }]);
    await space.block(['192.0.2.1', '198.51.100.9'], 'edge');
    await space.reads('/edge', '192.0.2.0/24\n198.51.100.9/32\n');
  });

  once('D10.14 what a dry run says comes true: random batches, subtraction, levels, composed feeds', async () => {
    const random = seededRandom(20_261_122);
    const space = await feeds().space();
    await space.list('edge', '--subtract-allow', 'on', '--confidence', 'low');
    await space.list('guarded', '--subtract-allow', 'workspace', '--max-entries', '1000', '--widen-v4', '24');
    await feedCommand(space, 'create', 'rated', '--list', 'edge', '--list', 'guarded', '--format', 'csv_indicator', '--confidence', 'high');
    await feedCommand(space, 'create', 'exact', '--all-lists', '--subtract-allow', 'workspace', '--family', 'v4');
    await space.block(['198.51.100.0/26'], 'guarded');
    const sizes = (found: readonly FeedRow[], of: 'entries_before' | 'entries_after') =>
      Object.fromEntries(found.map((each) => [`${each.name} ${each.action}`, each[of]]));
    const known: Record<string, number> = {};
    for (let round = 0; round < 12; round += 1) {
      const list = ['edge', 'guarded'][round % 2]!;
      const batch = Array.from({ length: 1 + random.below(12) }, () => entry(random));
      const found = rows(await dryRun(space, batch, list));
      for (const [name, count] of Object.entries(sizes(found, 'entries_before'))) {
        assert.equal(count, known[name] ?? count, `${name} before round ${round}`);
      }
      Object.assign(known, sizes(found, 'entries_after'));
      await space.send(batch, list);
    }
    const paths = { edge: '/edge', guarded: '/guarded', rated: '/rated', exact: '/exact', [space.name]: '' };
    for (const [name, count] of Object.entries(known)) {
      const [, feed, action] = /^(.*) (block|allow)$/.exec(name)!;
      await eventually(async () => {
        const { headers } = await space.get(`${paths[feed!]}?action=${action}`);
        assert.equal(headers['x-feed-entry-count'], String(count), name);
      });
    }
    assert.ok(Object.keys(known).length >= 8, Object.keys(known).join());
  });

  once('D10.14 a key learns only of feeds that it may read', async () => {
    const space = await feeds().space();
    await space.list('edge');
    const bound = { key: await space.newKey('--list', 'edge') };
    const found = rows(await dryRun(bound, [upsert('192.0.2.1'), upsert('192.0.2.9', { action: 'allow' })]));
    assert.deepEqual(
      found.map(({ name, action, entries_after }) => [name, action, entries_after]),
      [
        ['edge', 'block', 1],
        ['edge', 'allow', 1],
      ],
    );
    const writer = { key: await space.newKey('--permission', 'signal:write') };
    const { feeds: none, feeds_reason } = await dryRun(writer, [upsert('192.0.2.1')]);
    assert.deepEqual([none, feeds_reason], ['unknown', 'the API key does not have the permission feed:read']);
  });

  once('D10.14 at most 20 feeds are counted, and the answer says how many more there are', async () => {
    const space = await feeds().space();
    for (let i = 0; i < 20; i += 1) await feedCommand(space, 'create', `feed ${i}`, '--all-lists');
    const answer = await dryRun(space, [upsert('192.0.2.1')]);
    assert.deepEqual([rows(answer).length, answer.feeds_left_out], [20, 2]);
  });

  once(
    'D10.10, D10.12, D10.13 a feed that nears its cap, will go over it, goes over it or shrinks by half is told in the log, once each',
    async () => {
      const space = await feeds().space();
      const id = await space.list('tight', '--max-entries', '100');
      const addresses = Array.from({ length: 120 }, (_, i) => `192.168.${i >> 6}.${(2 * i) & 127}`);
      const lines = () =>
        feeds()
          .world.weir()
          .output()
          .stderr.split('\n')
          .filter((line) => line.includes(id))
          .map((line) => JSON.parse(line) as { level: string; msg: string });
      const told = async (...expected: string[]) => {
        await eventually(async () => {
          await space.get('/tight');
          const name = `the feed "tight" (${id}, workspace ${space.id}, action=block) `;
          assert.deepEqual(
            lines().map(({ level, msg }) => `${level} ${msg.replace(name, '').replace(`${id}, workspace ${space.id}`, '…')}`),
            expected,
          );
        });
      };
      await space.block(addresses.slice(0, 60), 'tight');
      await space.get('/tight');
      await space.block(addresses.slice(60, 99), 'tight');
      const all = ['warn has 99 entries, 99% of its cap of 100'];
      await told(...all);

      const place = { ...event('NL'), expiration: 3600 };
      const [row] = rows(await dryRun(space, [place], 'tight', 1));
      assert.equal(row!.entries_after > 100, true, JSON.stringify(row));
      assert.match(row!.warning!, /^goes over its cap of 100 with country NL \(\d+ networks\): 99 entries before, \d+ after$/);
      await space.send([place], 'tight');
      await eventually(async () =>
        assert.ok(
          lines().some(({ msg }) => msg.endsWith(row!.warning!)),
          lines()
            .map(({ msg }) => msg)
            .join('\n'),
        ),
      );
      all.push(`warn the feed "tight" (…) ${row!.warning}`);
      all.push(`warn is over its cap of 100 with ${row!.entries_after} entries: it is not published (413)`);
      await told(...all);
      // These servers log warnings only: that it is back under its cap is not shown.
      await space.unblock(['NL', ...addresses.slice(40)], 'tight');
      await told(...all, `warn shrank from ${row!.entries_after} to 40 entries`);
    },
  );

  test('D10.15, D10.16 weir status knows the engines, the servers, the feeds with their cap use and what holds of them', async () => {
    const space = await feeds().space();
    const id = await space.list('full', '--max-entries', '2');
    await space.block(['192.0.2.1', '192.0.2.9'], 'full');
    await space.reads('/full', '192.0.2.1/32\n192.0.2.9/32\n');
    const { world } = feeds();
    await eventually(() => {
      const served = [...readStatusFiles(world.settings.DATA_DIR!, Date.now())];
      assert.equal(served.length, 2);
      assert.ok(JSON.stringify(served).includes(id));
    });
    const { code, stdout, stderr } = await command(['status', '--json'], world.settings);
    assert.deepEqual([code, stderr], [1, '']);
    const status = JSON.parse(stdout) as Status;
    assert.deepEqual([status.engines.store.ok, status.engines.stream.ok, status.landing?.ok], [true, true, true]);
    const { processes } = status;
    assert.deepEqual(processes.map(({ roles }) => roles.join()).sort(), ['feeds', 'signals,consumer,feeds,manage,sources']);
    const { workspace, entries, entry_limit, cap_use_percent, stale_since, events } = status.feeds.find((feed) => feed.id === id)!;
    assert.deepEqual([workspace, entries, entry_limit, cap_use_percent, stale_since], [space.name, 2, 2, 100, null]);
    const text = 'has 2 entries, 100% of its cap of 2';
    assert.deepEqual(
      events.map((event) => [event.kind, event.text]),
      [['near_cap', text]],
    );
    assert.ok(
      status.attention.some((line) => line.startsWith(`the block feed "full" of ${space.name} ${text} (since `)),
      status.attention.join('\n'),
    );
  });
}

/** Processes that refresh sources are killed at any instant, one or both of two: the list has the old content or the new, and soon the new (SPEC D23.21). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed } from '../support/http.ts';
import { address, list, listServer } from '../support/list-server.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { seededRandom } from '../support/random.ts';
import { passTime } from '../support/time-out.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const ENTRIES = 3000;
const ROUNDS = 3;
const lines = (from: number) => Array.from({ length: ENTRIES }, (_, n) => address(from + n));
const feedOf = (from: number) =>
  lines(from)
    .map((each) => `${each}/32\n`)
    .sort()
    .join('');
for (const engine of ['embedded', 'PostgreSQL'] as const)
  suite(`sources that are killed, ${engine}`, { skip: engine === 'PostgreSQL' && noPostgres() }, () => {
    const folder = temporaryFolder({ after });

    test('D23.21 a process that is killed leaves the old content or the new, and another goes on; one download at a time', async (t) => {
      const postgres = engine === 'PostgreSQL' ? await startPostgres() : undefined;
      t.after(() => postgres?.stop());
      const database = await postgres?.createDatabase();
      await using server = await listServer();
      const settings = {
        ...{ DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0', SOURCE_NETWORKS: '127.0.0.1' },
        ...{ ...smallGeo(folder), RATE_LIMIT_FEEDS: '0', RATE_LIMIT_MANAGE: '0', LOG_LEVEL: 'error' },
        ...(database !== undefined && { DATABASE_URL: database }),
      };
      const start = [
        () => startWeir(settings),
        // With one embedded store a second process would only wait for the first.
        ...(database === undefined ? [] : [() => startWeir({ ...settings, ROLES: 'consumer,sources' })]),
      ];
      const processes: Weir[] = [];
      t.after(() => Promise.all(processes.map((each) => each.kill('SIGKILL'))));
      for (const each of start) processes.push(await each());
      const passed = () => passTime(settings);
      const call = async (path: string, body: object) => {
        const reply = await fetch(`${processes[0]!.url}/v1/manage${path}`, {
          ...{ method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body: JSON.stringify(body) },
        });
        assert.ok(reply.ok, await reply.text());
      };
      const feed = async () => (await getFeed(processes[0]!.url, KEY, '/killed')).text;
      const sorted = (text: string) =>
        text
          .trim()
          .split('\n')
          .sort()
          .map((each) => `${each}\n`)
          .join('');

      server.set('/killed', list(`${lines(0).join('\n')}\n`));
      await call('/sources', { name: 'killed', url: `${server.url}/killed` });
      await eventually(async () => assert.equal(sorted(await feed()), feedOf(0)));
      const random = seededRandom(9);
      for (let round = 1; round <= ROUNDS; round += 1) {
        const [before, next] = [(round - 1) * 700, round * 700];
        server.set('/killed', list(`${lines(next).join('\n')}\n`));
        await call('/sources/killed/refresh', {});
        await sleep(random.below(500));
        const victims = round % 3 === 0 ? processes.keys().toArray() : [random.below(processes.length)];
        await Promise.all(victims.map((n) => processes[n]!.kill('SIGKILL')));
        await passed();
        for (const n of victims) processes[n] = await start[n]!();
        // Half of a content may be there for a while; what stays in the end is the whole of one.
        await eventually(async () => assert.equal(sorted(await feed()), feedOf(next), `round ${round}, from ${before}`));
      }
      assert.equal(server.most.get('/killed'), 1);
    });
  });

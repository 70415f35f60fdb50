/** Feeds over time, by the real clock: expiry, renewal, caching, first appearance (decisions 5). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Headers, Reply } from '../../support/http.ts';
import { eventually, inSeconds, inTime } from '../../support/weir.ts';
import type { Once } from '../engine.ts';
import { event, type FeedWorld, lapsing, lastModified, type Space, upsert } from './world.ts';

/** What a client holds after an answer, which was made between two instants (ms). */
interface Held {
  readonly sent: number;
  readonly received: number;
  readonly reply: Reply;
  readonly body: string;
}

/** How long a feed waits for landing, ms. */
const LANDING = 2000;

/** How a client asks whether what it got has changed. */
const CONDITIONS = {
  none: () => ({}),
  'If-None-Match': ({ headers }: Reply) => ({ 'if-none-match': headers.etag }),
  'If-Modified-Since': ({ headers }: Reply) => ({ 'if-modified-since': headers['last-modified'] }),
} as const;

/** Polls until an instant (ms), each time with the condition that follows from the last answer. */
async function follow(get: Space['get'], condition: keyof typeof CONDITIONS, until: number): Promise<Held[]> {
  const all: Held[] = [];
  for (let headers: Headers = {}, body = ''; Date.now() < until; await sleep(25)) {
    const sent = Date.now();
    const reply = await get('', { headers });
    if (reply.status === 200) body = reply.text;
    else assert.equal(reply.status, 304);
    all.push({ sent, received: Date.now(), reply, body });
    headers = CONDITIONS[condition](reply);
  }
  return all;
}

export function timeTests(feeds: () => FeedWorld, once: Once): void {
  test('D3.5, D5.14 a block that expires in a century, or about the second 2^32, is in every format of the feed', async () => {
    const space = await feeds().space();
    const second = Math.floor(Date.now() / 1000);
    const far = [2_600_000_000, 3_155_760_000, ...[-1, 0, 1].map((offset) => 2 ** 32 + offset - second)];
    const hosts = (first: number) => far.map((_, i) => `192.0.2.${first + 2 * i}`);
    const [flat, typed, exact] = [0, 20, 40].map(hosts) as [string[], string[], string[]];
    await space.send(flat.map((ip, i) => event(ip, { expiration: far[i] })));
    await space.send(typed.map((ip, i) => upsert(ip, {}, { expires_in: far[i] })));
    const headers = { workspace_id: space.id, received_at: new Date(second * 1000).toISOString() };
    await feeds().publish(exact.map((ip, i) => ({ key: space.id, headers, value: JSON.stringify(event(ip, { expiration: far[i] })) })));
    const all = [...flat, ...typed, ...exact];
    await space.reads('', all.map((ip) => `${ip}/32\n`).join(''));
    await space.reads('?format=csv_indicator', all.map((ip) => `${ip},IP,high,high\n`).join(''));
  });

  // They mostly wait.
  suite('over time', { concurrency: true }, () => {
    test('3, D5.14 a rule is served up to its second and not in it, on a snapshot too; one renewed in time never leaves', async () => {
      const [stays, lapses, renewed] = ['192.0.2.1', '192.0.2.3', '192.0.2.5'];
      const lines = (...addresses: (string | undefined)[]) => addresses.map((address) => `${address}/32\n`).join('');
      const { space, end, digest } = await inSeconds(async (seconds) => {
        const space = await feeds().space();
        await space.block([stays!]);
        const end = Math.ceil(Date.now() / 1000) + seconds + 1;
        await feeds().publish([lapsing(space.id, lapses!, end), lapsing(space.id, renewed!, end)]);
        await feeds().landed();
        const [first, second, digest] = [await space.get(''), await space.getReplica(''), await space.get('?checksum=md5')];
        // The second server has its snapshot, and will not read another one in this test.
        await feeds().publish([lapsing(space.id, renewed!, end + 1)]);
        await feeds().landed();
        if (Date.now() >= (end - 1) * 1000) return undefined;
        for (const { text } of [first, second]) assert.equal(text, lines(stays, lapses, renewed));
        return { space, end, digest };
      });
      const last = end + 1;

      const clients = ([space.get, space.getReplica] as const).flatMap((get) =>
        (['none', 'If-None-Match', 'If-Modified-Since'] as const).map(async (condition) => {
          const held = await follow(get, condition, last * 1000 + 500);
          return { name: `${get === space.get ? 'first' : 'second'} server, condition ${condition}`, held };
        }),
      );
      for (const { name, held } of await Promise.all(clients)) {
        for (const { sent, received, reply, body } of held) {
          const allowed = [
            { from: 0, until: end, text: lines(stays, lapses, renewed) },
            { from: end, until: last, text: lines(stays, renewed) },
            { from: last, until: Number.POSITIVE_INFINITY, text: lines(stays) },
          ].filter(({ from, until }) => received >= from * 1000 && sent < until * 1000);
          assert.ok(
            allowed.some(({ text }) => text === body),
            `${name}: ${sent - end * 1000} to ${received - end * 1000} ms after the lapse: ${body}`,
          );
          assert.ok(lastModified(reply) * 1000 <= received, 'Last-Modified is ahead');
        }
        // A machine that is busy may let a client miss the one second of the content between.
        const missed = held.every(({ sent, received }) => sent < end * 1000 || received >= last * 1000);
        assert.equal(new Set([...held.map(({ body }) => body), ...(missed ? [lines(stays, renewed)] : [])]).size, 3, name);
        if (!name.startsWith('first')) continue;
        const { reply, received } = held.find(({ body }) => body === lines(stays))!;
        const since = lastModified(reply);
        assert.ok(since >= last && since * 1000 <= received, `${name}: ${since} of a content of ${last}`);
      }
      assert.notEqual((await space.get('?checksum=md5')).text, digest.text);
    });

    once(
      '4.3.10, D5.13 with the default settings a feed that was just read is not read again; another format of it is of the same snapshot',
      async () => {
        const { block, reads, getReplica, list } = await feeds().space();
        await list('edge');
        await block(['192.0.2.1']);
        await reads('', '192.0.2.1/32\n');
        const before = await getReplica('');
        await block(['192.0.2.9']);
        await block(['198.51.100.1'], 'edge');
        await reads('', '192.0.2.1/32\n192.0.2.9/32\n198.51.100.1/32\n');
        const after = await getReplica('', { headers: { 'if-none-match': before.headers.etag! } });
        assert.equal(after.status, 304);
        assert.equal((await getReplica('?format=set_elements')).text, 'elements = { 192.0.2.1/32 }\n');
        assert.equal((await getReplica('?format=csv_indicator&checksum=md5')).status, 200);
        // A list that was not read yet is.
        assert.equal((await getReplica('/edge')).text, '198.51.100.1/32\n');
      },
    );

    test('4.3.6, D5.15 Last-Modified: when the content first appeared; content A, B, A: the second A is new', async () => {
      const { block, unblock, get, reads } = await feeds().space();
      const began = Math.floor(Date.now() / 1000);
      await block(['192.0.2.1']);
      const first = await reads('', '192.0.2.1/32\n');
      assert.ok(lastModified(first) >= began && lastModified(first) * 1000 <= Date.now());
      await sleep(1100);
      // Rules that change nothing in the content do not move it.
      await block(['192.0.2.1/32'], 'default');
      assert.equal((await get('')).headers['last-modified'], first.headers['last-modified']);
      await block(['192.0.2.9']);
      const second = await reads('', '192.0.2.1/32\n192.0.2.9/32\n');
      await unblock(['192.0.2.9']);
      const third = await reads('', '192.0.2.1/32\n');
      assert.ok(lastModified(first) < lastModified(second) && lastModified(second) < lastModified(third));
      assert.equal(third.headers.etag, first.headers.etag);
      const since = await get('', { headers: { 'if-modified-since': first.headers['last-modified']! } });
      assert.deepEqual([since.status, since.text], [200, third.text]);
    });

    test('D5.15 a client that knows If-Modified-Since alone misses nothing, however fast changes come; Last-Modified never goes back', async () => {
      const space = await feeds().space();
      let [text, modified] = ['', 0];
      const look = async () => {
        const headers = modified === 0 ? {} : { 'if-modified-since': new Date(modified * 1000).toUTCString() };
        const reply = await space.get('?format=commented', { headers });
        assert.ok(lastModified(reply) >= modified && lastModified(reply) * 1000 <= Date.now());
        modified = lastModified(reply);
        if (reply.status === 200) text = reply.text;
      };
      for (let i = 0; i < 25; i += 1) {
        await space.block([`192.0.2.${2 * i}`]);
        await look();
        await sleep(60);
      }
      await eventually(async () => {
        await look();
        assert.match(text, /^# entries: 25$/m);
      });
      const { headers } = await space.get('?format=commented');
      assert.equal(Date.parse(headers['last-modified']!) / 1000, modified);
    });

    test('D5.13 who posts and then reads finds the rule', async () => {
      const posts: Promise<Space>[] = Array.from({ length: 3 }, () => feeds().space());
      for (const space of await Promise.all(posts)) {
        await space.block(['192.0.2.1']);
        await inTime(LANDING, async () => {
          const asked = performance.now();
          const { text } = await space.get('');
          const took = performance.now() - asked;
          if (took < LANDING) assert.equal(text, '192.0.2.1/32\n');
          return { took, result: text };
        });
      }
    });
  });
}

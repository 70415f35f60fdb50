/**
 * Three feed replicas polled at random while rules change: `node test/replicas/agreement.ts [--seconds 120] [--interval 30]`.
 * One ETag never names two bodies; on each replica Last-Modified never goes back; one interval and a second after the last
 * change all give the same ETag, Last-Modified, bytes and MD5.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FORMAT_NAMES } from '../../src/feed/formats/table.ts';
import { type Deployment, deploy } from '../support/deployment.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { startKafka } from '../support/kafka.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { seededRandom } from '../support/random.ts';

const REPLICAS = 3;
/** How much has to be seen at least. */
const LEAST = { polls: 100, contents: 10 };

interface Polled {
  readonly etag: string;
  readonly lastModified: number;
  readonly body: Buffer;
}

/** What has been seen of a feed so far, over all replicas. */
class Witness {
  readonly #bodies = new Map<string, string>();
  readonly #instants = new Map<string, number>();
  polls = 0;

  see(replica: string, view: string, { etag, lastModified, body }: Polled): void {
    this.polls += 1;
    const digest = createHash('sha256').update(body).digest('hex');
    assert.equal(this.#bodies.get(etag) ?? digest, digest, `${etag} names two bodies of ${view}`);
    this.#bodies.set(etag, digest);
    const place = `${replica} ${view}`;
    const before = this.#instants.get(place) ?? 0;
    assert.ok(lastModified >= before, `Last-Modified of ${view} went back on ${replica}`);
    this.#instants.set(place, lastModified);
  }

  get contents(): number {
    return this.#bodies.size;
  }
}

async function poll(url: string, view: string, key: string): Promise<Polled> {
  const { status, headers, bytes, text } = await getFeed(url, key, `?${view}`);
  assert.equal(status, 200, text);
  return { etag: headers.etag!, lastModified: Date.parse(headers['last-modified']!), body: bytes };
}

/** Changes rules and polls for `seconds` at least, then waits one interval and compares. Returns how much was seen. */
export async function quorum(deployment: Deployment, seconds: number, interval: number): Promise<{ polls: number; contents: number }> {
  const random = seededRandom(20_261_121);
  const [{ key }] = await deployment.tenants();
  const settings = { FEED_REBUILD_SECONDS: String(interval) };
  const start = (count: number, more: Readonly<Record<string, string>>) =>
    Promise.all(Array.from({ length: count }, () => deployment.start(more)));
  const [signals, replicas] = await Promise.all([
    start(2, { ROLES: 'signals' }),
    start(REPLICAS, { ROLES: 'feeds', ...settings }),
    // One workspace is in one partition, which one consumer lands.
    start(1, { ROLES: 'consumer' }),
  ]);
  const views = FORMAT_NAMES.flatMap((format) => ['v4', 'both'].map((family) => `format=${format}&family=${family}`));
  const witness = new Witness();
  const end = performance.now() + seconds * 1000;
  // On a slow machine it takes longer to see enough.
  const goesOn = () => performance.now() < end || witness.polls <= LEAST.polls || witness.contents <= LEAST.contents;

  const change = async () => {
    while (goesOn()) {
      const events = Array.from({ length: 1 + random.below(5) }, () => {
        const ip = random.below(10) < 8 ? `198.51.100.${random.below(64)}` : `2001:db8::${random.below(64).toString(16)}`;
        return { type: 'access_rules', action: random.below(10) < 7 ? 'block' : 'unblock', ip, expiration: 60 };
      });
      const { status, text } = await postSignals(random.pick(signals).url, key, events);
      assert.equal(status, 200, text);
      await sleep(random.below(400));
    }
  };
  const poller = async () => {
    while (goesOn()) {
      const { url } = random.pick(replicas);
      const view = random.pick(views);
      witness.see(url, view, await poll(url, view, key));
      await sleep(random.below(60));
    }
  };
  await Promise.all([change(), ...Array.from({ length: 4 }, poller)]);
  await deployment.landed();

  // The last rules expire within the minute after: what is compared must hold rules that stand.
  const standing = Array.from({ length: 40 }, (_, n) => ({
    type: 'access_rules',
    action: 'block',
    ip: `203.0.113.${2 * n}`,
    expiration: 86_400,
  }));
  await postSignals(signals[0].url, key, standing);
  await deployment.landed();
  await settle(replicas, views, key, witness, interval);
  return { polls: witness.polls, contents: witness.contents };
}

/** One interval and a second after the last change, between two expiries, all replicas agree. */
async function settle(replicas: readonly { url: string }[], views: readonly string[], key: string, witness: Witness, interval: number) {
  const all = () =>
    Promise.all(replicas.map(({ url }) => Promise.all(views.map(async (view) => ({ url, view, polled: await poll(url, view, key) })))));
  const until = performance.now() + (interval + 1) * 1000;
  // Appliances go on polling meanwhile.
  while (performance.now() < until) {
    for (const seen of (await all()).flat()) witness.see(seen.url, seen.view, seen.polled);
    await sleep(500);
  }
  // An expiry in the middle of a comparison is a change: the rules of the last minute may still leave one by one.
  let attempt = await all();
  for (let n = 0; n < 70 && !isAgreed(attempt); n += 1) {
    await sleep(1000);
    attempt = await all();
  }
  const [first, ...others] = attempt;
  for (const other of others) {
    for (const [n, { view, polled }] of other.entries()) {
      assert.equal(polled.etag, first[n].polled.etag, `ETag of ${view}`);
      assert.equal(polled.lastModified, first[n].polled.lastModified, `Last-Modified of ${view}`);
      assert.deepEqual(polled.body, first[n].polled.body, `bytes of ${view}`);
    }
  }
  for (const [n, view] of views.entries()) {
    const { body } = first[n].polled;
    for (const { url } of replicas) {
      const sum = await poll(url, `${view}&checksum=md5`, key);
      assert.equal(sum.body.toString(), createHash('md5').update(body).digest('hex'), `MD5 of ${view}`);
    }
  }
}

type Round = readonly (readonly { readonly polled: Polled }[])[];

const isAgreed = ([first, ...others]: Round): boolean =>
  others.every((other) =>
    other.every(({ polled }, n) => polled.etag === first[n].polled.etag && polled.lastModified === first[n].polled.lastModified),
  );

if (import.meta.main) {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '120' }, interval: { type: 'string', default: '30' } } });
  const [postgres, kafka] = [await startOwnPostgres(), await startKafka()];
  const deployment = await deploy(postgres, kafka, 'quorum');
  try {
    console.log(await quorum(deployment, Number(values.seconds), Number(values.interval)));
  } finally {
    await deployment.stop();
    await kafka.stop();
    await postgres.stop();
  }
}

/** Signals while the stream cannot be written: a whole service on PostgreSQL and a real Kafka broker that is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploy } from '../support/deployment.ts';
import { getFeed, postSignals, readyz } from '../support/http.ts';
import { noKafka, startKafka } from '../support/kafka.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, inTime } from '../support/weir.ts';

const FAILED = '{"error":"InternalServerError","message":"Internal server error","code":500}';

test('D3 while the broker is down signals get 500 within 5 s, feeds are served, /readyz says what is wrong; then all goes on by itself', {
  skip: noPostgres() || noKafka(),
  timeout: 600_000,
}, async (t) => {
  const [postgres, kafka] = await Promise.all([startPostgres(), startKafka()]);
  const deployment = await deploy(postgres, kafka, `outage-${process.pid}`);
  t.after(async () => {
    await deployment.stop();
    await Promise.all([postgres.stop(), kafka.stop()]);
  });
  const [{ key }] = await deployment.tenants();
  const weir = await deployment.start({ FEED_REBUILD_SECONDS: '0' });
  const block = (ip: string) => postSignals(weir.url, key, [{ type: 'access_rules', action: 'block', ip }]);
  const feed = async () => {
    const { status, text } = await getFeed(weir.url, key);
    return [status, text];
  };

  assert.equal((await block('192.0.2.1')).status, 200);
  await eventually(async () => assert.deepEqual(await feed(), [200, '192.0.2.1/32\n']));

  await kafka.kill();
  const refused = await inTime(5500, async () => {
    const begun = performance.now();
    const result = await Promise.all(['192.0.2.2', '192.0.2.3'].map(block));
    return { took: performance.now() - begun, result };
  });
  for (const { status, text, headers } of refused) assert.deepEqual([status, text, headers['cache-control']], [500, FAILED, 'no-store']);
  assert.deepEqual(await feed(), [200, '192.0.2.1/32\n']);
  await eventually(async () => {
    const { status, checks } = await readyz(weir.url);
    assert.equal(status, 503);
    assert.equal(checks.store.ok, true);
    assert.equal(checks.stream.ok, false);
    assert.ok(checks.stream.reason, 'no reason');
  });

  await kafka.start();
  // What was refused may be sent again without harm.
  for (const ip of ['192.0.2.2', '192.0.2.3', '192.0.2.2']) await eventually(async () => assert.equal((await block(ip)).status, 200));
  await eventually(async () => assert.deepEqual(await feed(), [200, '192.0.2.1/32\n192.0.2.2/31\n']));
  await eventually(async () => assert.equal((await readyz(weir.url)).status, 200));
});

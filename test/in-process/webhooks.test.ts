/** Messages of webhooks: as receivers know them, and what slow, dead and hostile receivers can do. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { sealSecret } from '../../src/account/secrets/encrypted-secret.ts';
import type { WebhookMessage } from '../../src/account/webhook.ts';
import { readConfig } from '../../src/config.ts';
import { post } from '../../src/fetch/post.ts';
import { sourceReach } from '../../src/fetch/reach.ts';
import { webhooksOf } from '../../src/roles/webhooks.ts';
import { reportOutage } from '../../src/runtime/webhooks/outage.ts';
import { pollWorkspace } from '../../src/runtime/webhooks/poller.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { bodyOf } from '../../src/webhook/message.ts';
import { nextTry } from '../../src/webhook/schedule.ts';
import { sendMessage } from '../../src/webhook/send.ts';
import { temporaryFolder } from '../support/folder.ts';
import { hookReceiver } from '../support/hook-receiver.ts';
import { freePort } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { eventually, testEnvironment } from '../support/weir.ts';

const receiver = await hookReceiver();
after(() => receiver[Symbol.asyncDispose]());
const KEYS = [randomBytes(32)];
const SECRET = 'a secret of 16 characters'.replaceAll(' ', '-');
const CHANGE = { key: 'source/a', is: 'began', state: 'held', text: 'the source "*x* <!channel>" holds', urgent: true, at: 1000 } as const;
const message = (more: Partial<WebhookMessage> = {}): WebhookMessage => ({
  ...{ id: randomUUID(), at: 1000, changes: [CHANGE], attention: 1, urgent: 1, tries: 0 },
  ...more,
});
const TOLD = { webhook: 'soc', workspace: { id: 'w', name: 'edge' } };
const hand = (url: string, more: Partial<Parameters<typeof post>[0]> = {}) =>
  post({
    ...{ url, body: '{}', headers: {}, via: {}, limit: 20_000, signal: new AbortController().signal, now: Date.now },
    reach: sourceReach(['127.0.0.1'], []),
    ...more,
  });

/** The receiver that a language's block of the document is, as a process. */
const snippet = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(
    readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8'),
  )![1]!;

suite('D27.5 the receivers of the document', () => {
  const running = new Set<ChildProcess>();
  after(() => {
    for (const child of running) child.kill('SIGKILL');
  });
  for (const [language, program, option, skip] of [
    ['js', process.execPath, ['--input-type=module', '-e'], false],
    ['python', 'python3', ['-c'], needs('python3')],
  ] as const) {
    test(`D27.5 ${language}: takes what is signed with its secret, tells it once, and nothing else`, { skip }, async () => {
      const port = await freePort();
      const child = spawn(program, [...option, snippet(language)], {
        env: { ...process.env, PORT: String(port), SECRET },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      running.add(child);
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      const url = `http://127.0.0.1:${port}/`;
      await eventually(() => hand(url));
      const send = async (secret: string, sent: WebhookMessage, now = Date.now()) => {
        const ports = { secretKeys: KEYS, now: () => now, monotonic: () => 0, post: (request: object) => hand(url, { ...request, url }) };
        const owner = { id: 'h', url };
        const tried = await sendMessage(
          ports,
          { ...owner, style: 'weir', secret: sealSecret(KEYS, owner, secret) },
          sent,
          TOLD,
          new AbortController().signal,
        );
        return tried.status;
      };
      const sent = message();
      assert.deepEqual(
        [
          await send(SECRET, sent),
          await send(SECRET, sent),
          await send('another-secret-of-16', sent),
          await send(SECRET, sent, Date.now() - 400_000),
        ],
        [204, 204, 401, 401],
      );
      await eventually(() => assert.match(printed, /^weir, edge: 1 thing needs attention\n• The source "\*x\* &lt;!channel&gt;" holds\n$/));
    });
  }
});

test('D27.4 each style says the same; what somebody did raises no alert; long lists are told in part', () => {
  const news = { ...CHANGE, is: 'happened', urgent: false } as const;
  const ended = { ...CHANGE, is: 'ended' } as const;
  const many = message({ changes: Array.from({ length: 23 }, () => ended), attention: 0, urgent: 0 });
  const { text, changes, workspace, ...body } = JSON.parse(bodyOf('weir', many, TOLD));
  assert.equal(text.split('\n').length, 22);
  assert.match(text, /^weir, edge: nothing needs attention\n• Ended: The source .*\n… and 3 more$/s);
  assert.deepEqual([changes.length, changes[0].is, changes[0].at, workspace], [23, 'ended', '1970-01-01T00:00:01.000Z', TOLD.workspace]);
  assert.deepEqual(body, { id: many.id, at: '1970-01-01T00:00:01.000Z', webhook: 'soc', attention: 0, urgent: 0 });
  const card = JSON.parse(bodyOf('teams', message(), TOLD)).attachments[0].content.body;
  assert.deepEqual(
    card.map((block: { text: string }) => block.text),
    ['weir, edge: 1 thing needs attention', '• The source "\\*x\\* \\<!channel\\>" holds'],
  );
  const alert = (sent: WebhookMessage) => JSON.parse(bodyOf('pagerduty', sent, TOLD, 'k'.repeat(32)));
  const { payload, ...event } = alert(message({ changes: [CHANGE, news] }));
  assert.deepEqual(event, { routing_key: 'k'.repeat(32), event_action: 'trigger', dedup_key: 'weir/w' });
  assert.deepEqual([payload.severity, payload.source], ['error', 'edge']);
  assert.equal(alert(many).event_action, 'resolve');
});

test('D39.4 a test says that it is one, and resolves no alert that is open', () => {
  const test = message({ changes: [{ ...CHANGE, key: 'test', is: 'happened', urgent: false }], attention: 4, urgent: 1, isTest: true });
  const { text, attention, urgent } = JSON.parse(bodyOf('weir', test, TOLD));
  assert.match(text, /^weir, edge: a test\n/);
  assert.deepEqual([attention, urgent], [4, 1]);
  const { event_action, dedup_key } = JSON.parse(bodyOf('pagerduty', test, TOLD, 'k'.repeat(32)));
  assert.deepEqual([event_action, dedup_key], ['resolve', 'weir/w/test']);
});

test('D27.6 a receiver that sends us elsewhere, never ends or never answers gets no more of us than its time', async () => {
  const { url } = receiver;
  receiver.answer = (response) => void response.writeHead(307, { location: 'http://127.0.0.2:1/' }).end('moved');
  assert.deepEqual(await hand(url), { status: 307, retryAfter: undefined, text: 'moved' });
  let sent = 0;
  const before = process.memoryUsage().rss;
  receiver.answer = (response) => {
    response.writeHead(500, { 'content-length': 2 ** 30 });
    const piece = Buffer.alloc(65_536, 'x');
    const more = () => {
      while (!response.destroyed && sent < 2 ** 30) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once('drain', more);
      }
    };
    more();
  };
  for (let n = 0; n < 20; n += 1) assert.deepEqual((await hand(url)).text.length, 200);
  assert.ok(sent < 20 * 16 * 2 ** 20, `${sent} bytes were sent`);
  assert.ok(process.memoryUsage().rss - before < 128 * 2 ** 20);
  receiver.answer = () => undefined;
  await assert.rejects(hand(url, { limit: 30 }), { code: 'FETCH', message: /no data for|it takes longer than/ });
  for (const status of [200, 500]) {
    receiver.answer = (response) => void response.writeHead(status).write('.');
    assert.deepEqual((await hand(url, { limit: 100 })).status, status);
  }
});

test('D27.1 D27.6 no connection is made into networks that are not allowed, whatever a name says', async () => {
  const reach = sourceReach([], []);
  for (const url of [
    'http://127.0.0.1:1/',
    'http://[::1]:1/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest',
    'http://2130706433/',
  ])
    await assert.rejects(hand(url, { reach }), { code: 'FETCH', message: /is in a private, special or own network/ }, url);
  const lookup = ((_: string, __: object, done: (error: null, found: object[]) => void) =>
    done(null, [{ address: '10.1.2.3', family: 4 }])) as never;
  await assert.rejects(hand('http://rebound.example/', { reach, via: { lookup } }), {
    message: 'rebound.example is 10.1.2.3, which is in a private, special or own network (10.1.2.3)',
  });
});

test('D27.6 tries come after 10 seconds, then twice as late each time up to an hour, as the receiver wants, and end after a day', () => {
  const at = 5000;
  const waits = [1, 2, 3, 9, 10, 99].map((tries) => nextTry({ at, tries }, at)! - at);
  assert.deepEqual(waits, [10_000, 20_000, 40_000, 2_560_000, 3_600_000, 3_600_000]);
  assert.equal(nextTry({ at, tries: 1 }, at, 120_000), at + 120_000);
  assert.equal(nextTry({ at, tries: 1 }, at, 1e12), at + 3_600_000);
  assert.equal(nextTry({ at, tries: 9 }, at + 86_400_000 - 1000), null);
});

test('D27.6 a receiver that never answers holds up no other, two of a workspace wait at most, and stopping waits for none', async (t) => {
  const store = await openSqliteStore(temporaryFolder(t));
  const organization = await store.createOrganization('acme', 'active');
  const [slow, other] = [await store.createWorkspace(organization.id, 'slow'), await store.createWorkspace(organization.id, 'other')];
  const read = readConfig(testEnvironment({ WEBHOOK_NETWORKS: '127.0.0.1' }) as Record<string, string>);
  assert('config' in read);
  const service = { engines: { store: 'a', stream: 'b' }, geo: () => ({ version: '', country: { age_days: 0 }, asn: { age_days: 0 } }) };
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const guardRails = { ...NO_GUARD_RAILS, self: [] } as never;
  const telling = webhooksOf({ config: read.config, store, guardRails, log: () => undefined }, service, clock);
  const add = (workspaceId: string, name: string) =>
    store.createWebhook(workspaceId, { id: randomUUID(), name, url: `${receiver.url}/${name}`, style: 'weir', secret: null });
  for (const name of ['a', 'b', 'c']) await add(slow.id, name);
  await add(other.id, 'good');
  receiver.received.length = 0;
  receiver.answer = (response, { url }) => {
    if (url === '/good') response.end();
  };
  await telling.tick(true);
  await eventually(() => assert.equal(receiver.received.length, 3));
  await telling.tick();
  assert.deepEqual(receiver.received.filter(({ path }) => path !== '/good').length, 2);
  const [good] = await store.webhooks(other.id);
  await eventually(async () => assert.equal((await store.webhookDeliveries(good!.id))[0]?.outcome, 'delivered'));
  await telling.stop();
  // What was under way is sent again by whoever goes on.
  assert.equal((await store.dueMessages(Date.now(), 9)).length, 3);
  await store.close();
});

test('D27.9 a store that is away for a minute is told from memory, until it is taken or is back; then that it is over', async (t) => {
  let now = Date.now();
  const bodies: string[] = [];
  const send = {
    ...{ secretKeys: KEYS, now: () => now, monotonic: () => 0 },
    post(request: { readonly url: string; readonly body: string }) {
      bodies.push(request.body);
      return hand(request.url, request);
    },
  };
  const away = reportOutage({ url: `${receiver.url}/own`, style: 'weir', secret: null }, send, new AbortController().signal);
  const fail = async (ms: number) => {
    now += ms;
    await away.failed(new Error('no answer'));
  };
  receiver.answer = (response) => void response.writeHead(500).end();
  await fail(0);
  await fail(59_000);
  assert.equal(bodies.length, 0);
  await fail(1000);
  await fail(9000);
  receiver.answer = (response) => void response.end();
  await fail(1000);
  await fail(3_600_000);
  assert.deepEqual([bodies.length, bodies[0] === bodies[1]], [2, true]);
  assert.match(bodies[0]!, /"began","state":"away","text":"the store does not answer: no answer \(since /);
  const told = away.answered();
  assert.deepEqual([Object.keys(told), Object.keys(away.answered())], [['engine/store'], []]);
  const store = await openSqliteStore(temporaryFolder(t));
  const service = { engines: { store: 'a', stream: 'b' }, geo: () => ({ version: '', country: { age_days: 0 }, asn: { age_days: 0 } }) };
  const ports = { store, guardRails: { ...NO_GUARD_RAILS, self: [] } as never, service, ownStyle: 'weir' as const, now: () => now };
  const [update] = await pollWorkspace(ports, null, { processes: [], known: new Set() }, told);
  assert.deepEqual(
    update!.message!.changes.map(({ is, key }) => [is, key]),
    [['ended', 'engine/store']],
  );
  await store.close();
});

/** What who has shown no key may do: guess the token of the metrics, begin to sign in. Real sockets, several addresses. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { postSignals } from '../support/http.ts';
import { eventually, KEY, startWeir, weirFor } from '../support/weir.ts';

const TOKEN = 'a-token-of-some-length';
const SIGN_IN = JSON.stringify({ key: KEY, name: 'Ada' });

/** The status and body of an answer to a request from one of this machine's addresses. */
function ask(
  url: string,
  localAddress: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body === undefined ? 'GET' : 'POST', localAddress, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    sent.on('error', reject).end(body);
  });
}

test('D12.14 guesses of the metrics token, on both ports, are limited by address, counted and logged as wrong keys are; the right one always opens', async (t) => {
  const folder = temporaryFolder(t);
  const tokens = { METRICS_TOKEN: TOKEN, METRICS_PORT: '0', LOG_LEVEL: 'info' };
  const weir = await startWeir({ ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, ...tokens });
  t.after(() => weir.kill('SIGKILL'));
  const metrics = await eventually(() => {
    const { stderr } = weir.output();
    return /metrics on (http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(stderr)?.[1] ?? assert.fail(stderr);
  });
  for (const [base, from] of [
    [weir.url, '127.0.0.11'],
    [metrics, '127.0.0.12'],
  ] as const) {
    const guess = async (authorization?: string) =>
      (await ask(`${base}/metrics`, from, authorization === undefined ? {} : { authorization })).status;
    // They may fall into two seconds.
    const statuses = await Promise.all(Array.from({ length: 60 }, (_, i) => guess(`Bearer a-wrong-token-${i}`)));
    assert.deepEqual([...new Set(statuses)].toSorted(), [401, 429], base);
    assert.ok(statuses.filter((status) => status === 401).length <= 40);
    assert.deepEqual(
      [await guess(`Bearer ${TOKEN}`), await guess()],
      [200, 401],
      'who shows the token is let in, who shows nothing is asked',
    );
  }
  const { text } = await ask(`${metrics}/metrics`, '127.0.0.1', { authorization: `Bearer ${TOKEN}` });
  assert.match(text, /^weir_failed_authentications_total 120$/m);
  await weir.kill('SIGTERM');
  const { stderr } = weir.output();
  for (const from of ['127.0.0.11', '127.0.0.12'])
    assert.match(stderr, new RegExp(`60 wrong API keys or enrolment codes within a minute from ${from.replaceAll('.', '\\.')}"`));
  assert.doesNotMatch(stderr, /a-wrong-token/);
});

test('D18.9 520 sign-ins that one address sends slowly keep nobody else from signing in, and no key from sending', async (t) => {
  const folder = temporaryFolder(t);
  const { url } = await weirFor(t, { ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, BODY_BUDGET_MB: '32' });
  const { port, host } = new URL(url);
  const slow: Socket[] = [];
  t.after(() => {
    for (const socket of slow) socket.destroy();
  });
  const answers: string[] = [];
  for (let i = 0; i < 520; i += 1) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.0.21' });
    slow.push(socket.on('error', () => undefined).setEncoding('latin1'));
    socket.on('data', (text: string) => void answers.push(text.slice(9, 12)));
    const length = i % 2 === 0 ? 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n' : 'Content-Length: 4096\r\n\r\n{';
    socket.write(`POST /console/session HTTP/1.1\r\nHost: ${host}\r\nX-Weir-Console: 1\r\nSec-Fetch-Site: same-origin\r\n${length}`);
    if (i % 50 === 0) await once(socket, 'connect');
  }
  await eventually(() => assert.ok(answers.length >= 520 - 64, String(answers.length)));
  assert.deepEqual([...new Set(answers)], ['429'], 'what is too much is told so');

  const proof = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin', 'content-length': String(SIGN_IN.length) };
  const signIn = (from: string) => ask(`${url}/console/session`, from, proof, SIGN_IN);
  const { status, text } = await signIn('127.0.0.1');
  assert.equal(status, 200, text);
  assert.equal((await signIn('127.0.0.21')).status, 429);
  assert.equal((await postSignals(url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }])).status, 200);
  for (const socket of slow) socket.destroy();
  await eventually(async () => assert.equal((await signIn('127.0.0.21')).status, 200));
});

test('D18.10 a flood of cookies of no session is answered 429 and keeps out nobody who is signed in; signing out without a session writes nothing', async (t) => {
  const folder = temporaryFolder(t);
  const { url } = await weirFor(t, { ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY });
  const from = '127.0.0.31';
  const proof = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin' };
  const signedIn = await new Promise<string>((resolve, reject) => {
    const sent = request(`${url}/console/session`, { method: 'POST', localAddress: from, headers: proof }, (answer) => {
      answer.resume();
      resolve(answer.headers['set-cookie']![0]!.split(';')[0]!);
    });
    sent.on('error', reject).end(SIGN_IN);
  });
  const visit = async (cookie: string) => (await ask(`${url}/v1/manage/whoami`, from, { cookie })).status;
  assert.equal(await visit(signedIn), 200);
  const wrong = () => `weir_session=${randomBytes(32).toString('base64url')}`;
  const flood = Array.from({ length: 200 }, () => visit(wrong()));
  const meanwhile = await Promise.all(Array.from({ length: 20 }, () => visit(signedIn)));
  const statuses = await Promise.all(flood);
  assert.deepEqual([...new Set(statuses)].toSorted(), [401, 429]);
  assert.ok(statuses.filter((status) => status === 429).length >= 100, JSON.stringify(statuses));
  assert.deepEqual([...new Set(meanwhile)], [200]);

  const store = new DatabaseSync(join(folder, 'weir.db'), { readOnly: true });
  t.after(() => store.close());
  const version = () => store.prepare('PRAGMA data_version').get()!.data_version;
  const signOut = (cookie: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { ...proof, cookie };
      request(`${url}/console/session`, { method: 'DELETE', localAddress: '127.0.0.32', headers, agent: false }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode!));
      })
        .on('error', reject)
        .end();
    });
  // What weir writes once a minute may fall into one try.
  await eventually(async () => {
    const before = version();
    for (let i = 0; i < 10; i += 1) assert.equal(await signOut(wrong()), 200);
    assert.equal(version(), before);
  });
  assert.equal(await signOut(signedIn), 200);
  // It counts as the others do now, and they may have filled this second.
  await eventually(async () => assert.equal(await visit(signedIn), 401));
});

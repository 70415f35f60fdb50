import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { authenticator } from '../auth/authenticator.ts';
import { gate } from '../auth/gate.ts';
import { rateLimiter } from '../auth/rate-limit.ts';
import type { Call } from '../call.ts';
import { consoleSessions } from './sessions.ts';

const NOW = 1_800_000_000_000;
const none = async () => {
  throw new Error('no test asks for it');
};
/** What sessions of keys do not ask for. */
const UNUSED = {
  ...{ workplace: none, people: none, workspaces: none },
  ...{ claimRenewal: none, renewSession: none, endSessions: none, seePerson: none },
};

test('D18.10 cookies of no session are looked up 20 times a second and address, a known one always; signing out with one writes nothing', async () => {
  const calls = { found: 0, closed: 0 };
  const good = randomBytes(32).toString('base64url');
  const session = { keyHash: hash('sha256', 'a key', 'buffer'), actor: 'Ada', expiresAt: NOW - 1 };
  const store = {
    async findSession(id: Uint8Array) {
      calls.found += 1;
      return Buffer.from(id).equals(hash('sha256', good, 'buffer')) ? session : undefined;
    },
    async closeSession() {
      calls.closed += 1;
    },
    async openSession() {},
    ...UNUSED,
  };
  const clock = { now: () => NOW, monotonic: () => 5_000 };
  const keys = { keyRevision: async () => 1, findCaller: async () => undefined };
  const sessions = consoleSessions({
    gate: gate('manage', authenticator({ store: keys, ...clock }), rateLimiter(0)),
    store,
    now: clock.now,
    secure: false,
  });
  const call = (id: string, ip = '192.0.2.1') =>
    ({
      request: { method: 'GET', headers: { cookie: `weir_session=${id}`, 'x-weir-console': '1', 'sec-fetch-site': 'same-origin' } },
      ip,
      at: { wall: NOW, monotonic: 5_000 },
    }) as unknown as Call;
  const wrong = () => randomBytes(32).toString('base64url');
  const status = async (id: string, ip?: string) => ((await sessions.identify(call(id, ip))) as { status: number }).status;

  assert.equal(await status(good), 401, 'it is over, but it is one');
  for (let i = 0; i < 1000; i += 1) assert.equal(await status(wrong()), i < 20 ? 401 : 429);
  assert.equal(calls.found, 21);
  assert.equal(await status(good), 401, 'looked up all the same');
  assert.equal(calls.found, 22);
  assert.equal(await status(wrong(), '192.0.2.2'), 401, 'another address has its own');

  assert.deepEqual(await sessions.close(call(wrong(), '192.0.2.3')), {
    cookie: 'weir_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    provider: undefined,
  });
  assert.equal(calls.closed, 0);
  await sessions.close(call(good));
  assert.equal(calls.closed, 1);
});

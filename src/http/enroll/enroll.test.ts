import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../answer.ts';
import type { Call } from '../call.ts';
import { enrolments, MOST_TRIED } from './enroll.ts';
import { origins } from './origin.ts';

test('D52.5 codes that many addresses guess are looked up 6,000 times a minute in all', async () => {
  let lookUps = 0;
  const { use } = enrolments({
    store: {
      async findEnrolment() {
        lookUps += 1;
        return undefined;
      },
      useEnrolment: () => assert.fail('a wrong code uses nothing'),
    },
    gate: { throttled: () => undefined, refuse: () => ({ status: 401 }) },
    origins: origins('https://weir.example.com', []),
    now: () => 0,
    maxKeys: 0,
  });
  const statusAt = async (n: number, monotonic: number) => {
    const ip = `192.0.${n >> 8}.${n & 255}`;
    const request = { headers: {}, socket: { remoteAddress: ip, encrypted: true } };
    return ((await use({ request, ip, params: { code: 'a'.repeat(32) }, at: { monotonic } } as unknown as Call)) as Answer).status;
  };
  for (let n = 0; n < MOST_TRIED; n += 1) assert.equal(await statusAt(n, 0), 404);
  assert.deepEqual([await statusAt(MOST_TRIED, 0), lookUps], [429, MOST_TRIED]);
  assert.equal(await statusAt(0, 1_000), 404);
});

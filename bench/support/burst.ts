/** Rules that arrive as users send them: in batches over HTTP, through stream and landing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteReads } from '../../src/store/sqlite/store.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { KEY, type Weir } from '../../test/support/weir.ts';
import { scattered } from './fill.ts';
import { postLoad } from './load.ts';

const BATCH = 1000;
const LANES = 4;

/** Seconds from the first request on. */
export interface Burst {
  readonly accepted: number;
  readonly landed: number;
}

/** Sends blocks of so many hosts to a service on the embedded engine in `dataDir`; resolves when all have landed. */
export async function sendHosts(weir: Weir, dataDir: string, count: number): Promise<Burst> {
  const bodies = Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) =>
    bodyOf(batch * BATCH, Math.min(count, (batch + 1) * BATCH)),
  );
  const [reads, stream] = [openSqliteReads(dataDir), openSqliteStream(dataDir)];
  const streamId = await stream.id();
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const begun = performance.now();
  const { seconds: accepted } = await postLoad(new URL('/v1/signal', weir.url), headers, LANES, () => bodies.shift());
  const { end } = await stream.bounds(0);
  while (((await reads.position(streamId, 0)) ?? 0) < end) await sleep(5);
  const landed = (performance.now() - begun) / 1000;
  await reads.close();
  await stream.close();
  return { accepted, landed };
}

function bodyOf(from: number, to: number): Buffer {
  const events = Array.from({ length: to - from }, (_, i) => ({
    type: 'access_rules',
    action: 'block',
    ip: dotted(scattered(from + i)),
    description: 'brute force on the login page',
  }));
  return Buffer.from(JSON.stringify(events));
}

const dotted = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');

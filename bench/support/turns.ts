/**
 * The process of bench/metrics.ts: one feed, served from the same memory by two handlers in turn, a block of requests each. With `on`
 * requests are counted for metrics, and polls for the console and for the ledger of devices, as a service does that has metrics; with `off`
 * nothing is. Out: its URL, and for each message µs of CPU of a request since the last one, by block.
 */
import { hash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/clock.ts';
import { activityCounter } from '../../src/http/activity.ts';
import { type AppParts, createApp } from '../../src/http/app.ts';
import { authenticator } from '../../src/http/auth/authenticator.ts';
import { newHttpCounts } from '../../src/http/counts.ts';
import { deviceLedger } from '../../src/http/device-ledger.ts';
import { documentEndpoint } from '../../src/http/feeds/document.ts';
import { signer } from '../../src/http/feeds/signature.ts';
import { createLogger } from '../../src/runtime/logging.ts';
import { CALLER } from '../../test/support/bouncer-world.ts';
import { MemoryStore, Replica } from '../../test/support/feed-world.ts';
import { KEY } from '../../test/support/weir.ts';

const { now, monotonic } = systemClock;
const store = new MemoryStore(systemClock);
const list = store.addList('default');
for (let host = 1; host <= 10; host += 1) store.add(list, `198.51.100.${host}`);
const { cache } = new Replica(systemClock, store, { rebuildSeconds: 3600 });

const isKey = (digest: Uint8Array) => Buffer.from(digest).equals(hash('sha256', KEY, 'buffer'));
const counts = newHttpCounts();
const parts: AppParts = {
  settings: {
    trustProxy: [],
    rateLimitSignals: 0,
    rateLimitFeeds: 0,
    rateLimitManage: 0,
    bodyBudgetMb: 64,
    maxConnections: 1000,
    maxConnectionsPerAddress: 1000,
    baseUrl: undefined,
    console: false,
  },
  authenticator: authenticator({
    store: { keyRevision: async () => 1, findCaller: async (digest) => (isKey(digest) ? CALLER : undefined) },
    now,
    monotonic,
    counts,
  }),
  submitSignals: undefined,
  answerDocument: documentEndpoint(cache, signer([], now).feed, now, console.error),
  bouncers: undefined,
  readiness: async () => ({}),
  draining: () => false,
  now,
  monotonic,
  counts,
  logger: createLogger('error'),
};
const metrics = { render: async () => '', token: undefined, refuse: () => ({ status: 401 }) };

const onApp = createApp({ ...parts, metrics, devices: deviceLedger(now), activity: activityCounter(now) });
const offApp = createApp(parts);
/** Takes what answers the requests of an app away from its server. */
function handlerOf({ server }: typeof onApp): RequestListener {
  const [handler] = server.listeners('request');
  server.removeAllListeners('request');
  return handler as RequestListener;
}
const handlers = { on: handlerOf(onApp), off: handlerOf(offApp) };

/** Requests of a block: so few that both sides share what else the machine does, and enough for a clock that ticks each 4 ms. */
const BLOCK = 1000;
export type Side = keyof typeof handlers;
export type Blocks = Record<Side, number[]>;

let blocks: Blocks = { on: [], off: [] };
let side: Side = 'on';
let answered = 0;
let begun = process.threadCpuUsage();

function turn(): void {
  const { user, system } = process.threadCpuUsage(begun);
  blocks[side].push((user + system) / BLOCK);
  side = side === 'on' ? 'off' : 'on';
  answered = 0;
  begun = process.threadCpuUsage();
}

onApp.server.on('request', (request, response) => {
  handlers[side](request, response);
  answered += 1;
  if (answered === BLOCK) turn();
});

process.on('message', () => {
  process.send!(blocks);
  blocks = { on: [], off: [] };
});
process.on('disconnect', () => process.exit());
await onApp.listen({ host: '127.0.0.1', port: 0 });
process.send!(`http://127.0.0.1:${(onApp.server.address() as AddressInfo).port}`);

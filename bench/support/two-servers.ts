/**
 * The process of bench/metrics.ts: one feed, served twice from the same memory by the same code. At `on` requests are counted for metrics, and
 * polls for the console and for the ledger of devices, as a service does that has metrics; at `off` nothing is. A message names the side
 * that is asked next: with metrics the process also watches its event loop.
 */
import { hash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { systemClock } from '../../src/clock.ts';
import { activityCounter } from '../../src/http/activity.ts';
import { type AppParts, createApp } from '../../src/http/app.ts';
import { authenticator } from '../../src/http/auth/authenticator.ts';
import { newHttpCounts } from '../../src/http/counts.ts';
import { deviceLedger } from '../../src/http/device-ledger.ts';
import { feedEndpoint } from '../../src/http/feeds/answer.ts';
import { documentEndpoint } from '../../src/http/feeds/document.ts';
import { createLogger } from '../../src/runtime/logging.ts';
import { type ProcessWatch, watchProcess } from '../../src/runtime/metrics/process.ts';
import { MemoryStore, Replica, WORKSPACE } from '../../test/support/feed-world.ts';
import { KEY } from '../../test/support/weir.ts';

const { now, monotonic } = systemClock;
const store = new MemoryStore(systemClock);
const list = store.addList('default');
for (let host = 1; host <= 10; host += 1) store.add(list, `198.51.100.${host}`);
const { cache } = new Replica(systemClock, store, { rebuildSeconds: 3600 });

const caller = {
  keyId: 'key',
  workspaceId: WORKSPACE,
  organizationId: 'organization',
  subscription: 'active',
  permissions: ['feed:read'],
  listId: null,
  feedId: null,
  guardRails: NO_GUARD_RAILS,
  expiresAt: null,
} as const;
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
    store: { keyRevision: async () => 1, findCaller: async (digest) => (isKey(digest) ? caller : undefined) },
    now,
    monotonic,
    counts,
  }),
  submitSignals: undefined,
  answerFeed: feedEndpoint(documentEndpoint(cache, now, console.error)),
  answerRules: undefined,
  answerAgent: undefined,
  bouncers: undefined,
  readiness: async () => ({}),
  draining: () => false,
  monotonic,
  counts,
  logger: createLogger('error'),
};
const metrics = { render: async () => '', token: undefined, report: console.error };
const watched = { ...parts, metrics, devices: deviceLedger(now), activity: activityCounter(now) };

async function listen(given: AppParts): Promise<string> {
  const app = createApp(given);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** The server with all that is counted, and the one with nothing. */
export type Side = 'on' | 'off';

let watch: ProcessWatch | undefined;
process.on('message', (side: Side) => {
  watch?.close();
  watch = side === 'on' ? watchProcess() : undefined;
  process.send!('ready');
});
process.on('disconnect', () => process.exit());
process.send!({ on: await listen(watched), off: await listen(parts) } satisfies Record<Side, string>);

/**
 * What lists are worth: `node bench/worth.ts [--lists 20] [--entries 100000] [--detections 20000] [--own]`.
 * Lists of sources (with `--own` of nobody's: then all is detections) with scattered networks, a tenth of them IPv6, each of which shares a third
 * with the next. First its parts, in this process: reading, the whole matrix. Then as it is asked for over HTTP: how long, what the process has
 * more then, 304s beside it and without, and 4,000 requests for it at once.
 * Limits: the matrix 2 s; 150 MiB more; the p99 of 304s as without, and 5 ms.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { keyParts } from '../src/account/key.ts';
import { NO_SETTINGS } from '../src/account/list.ts';
import { DEFAULT_GUARDS, PLAIN_READING } from '../src/account/source.ts';
import { systemClock } from '../src/clock.ts';
import { stays } from '../src/feed/whatif/overlap/intervals.ts';
import { ListEntries } from '../src/feed/whatif/overlap/list-overlap.ts';
import { overlapOf } from '../src/feed/whatif/overlap/overlap.ts';
import type { LandingItem } from '../src/ports/landing.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { openSqliteStream } from '../src/stream/sqlite/stream.ts';
import { GEO } from '../test/support/feed-world.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { blockHost, scattered } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { memoryMb } from './support/process.ts';

const { values } = parseArgs({
  options: {
    lists: { type: 'string', default: '20' },
    entries: { type: 'string', default: '100000' },
    detections: { type: 'string', default: '20000' },
    own: { type: 'boolean', default: false },
  },
});
const [LISTS, ENTRIES, DETECTIONS] = [values.lists, values.entries, values.detections].map(Number);
const BATCH = 8000;
const FLOOD = 4000;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const settings = {
  DATA_DIR: join(dir, 'data'),
  RATE_LIMIT_FEEDS: '0',
  RATE_LIMIT_MANAGE: '0',
  MAX_RULES: '0',
  LOG_LEVEL: 'error',
  ROLES: 'signals,consumer,feeds,manage',
};
const store = await openSqliteStore(settings.DATA_DIR);
const { workspaceId } = await store.bootstrap({ ...keyParts(KEY), onlyWhenEmpty: true });

/** The n-th network of all. */
const change = (n: number) => {
  const made = blockHost(scattered(n), null);
  if (n % 10 !== 0 || !('rule' in made)) return made;
  const target = { kind: 'ip', network: { family: 6, address: [0x20010db8, scattered(n), 0, 0], prefix: 64 } } as const;
  return { ...made, rule: { ...made.rule, target } } as typeof made;
};

let position = 0;
async function fillList(listId: string, from: number, rules: number): Promise<void> {
  for (let at = 0; at < rules; at += BATCH) {
    const now = Date.now();
    const items = Array.from({ length: Math.min(BATCH, rules - at) }, (_, i) => {
      const record = { offset: position + i, timestamp: now, key: workspaceId, headers: {}, value: '' };
      return { record, workspaceId, listId, receivedAt: now, batchId: null, keyId: null, change: change(from + at + i) } as LandingItem;
    });
    const to = position + items.length;
    await store.apply({ streamId: 'bench', partition: 0, from: position === 0 ? null : position, to, items, poison: [], now });
    position = to;
  }
}

async function makeList(name: string): Promise<string> {
  if (values.own) return (await store.createList(workspaceId, name, NO_SETTINGS)).id;
  const { source } = await store.createSource(
    workspaceId,
    {
      ...{ id: randomUUID(), name, list: NO_SETTINGS, secret: null, url: 'https://a.example/', purpose: 'block', every: 3600 },
      ...{ reading: PLAIN_READING, guards: DEFAULT_GUARDS },
      ...{ credential: null, copies: [], catalogue: null },
    },
    { maxSources: 0, maxLists: 0 },
  );
  return source.listId;
}

const own = (await store.directory(workspaceId))!.lists[0].id;
await fillList(own, 0, DETECTIONS);
for (let n = 0; n < LISTS; n += 1) {
  await fillList(await makeList(`list-${n}`), Math.round((n * ENTRIES * 2) / 3), ENTRIES);
}

const rows: (string | number)[][] = [['', 'took', 'limit']];
async function timed<T>(what: string, limit: string, work: () => T | Promise<T>): Promise<T> {
  const begun = performance.now();
  const done = await work();
  rows.push([what, `${Math.round(performance.now() - begun)} ms`, limit]);
  return done;
}

const p99 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)];
const headers = { authorization: `Bearer ${KEY}` };

try {
  const { lists } = (await store.directory(workspaceId))!;
  const entries = new ListEntries(lists.length);
  await timed('read from the store', '', async () => {
    const block = {
      v4: (start: number, end: number) => entries.v4(start, end),
      v6: (words: Uint32Array) => entries.v6(words),
      geo: () => {},
    };
    for (const [place, { id }] of lists.entries()) {
      entries.begin(place);
      await store.listHistory(workspaceId, id, { stored: stays({ block }), lost: stays({}) });
    }
  });
  await timed(`the matrix of ${LISTS} lists of ${ENTRIES}`, '2000 ms', () => entries.standings());
  const { detections } = await timed('all, with detections', '', () =>
    overlapOf(workspaceId, undefined, { store, geo: GEO, clock: systemClock }),
  );
  rows.push(['of these own detections', `${detections.count}`, '']);
  printTable(rows);
  rows.length = 1;
  await store.close();
  const stream = openSqliteStream(settings.DATA_DIR);
  const again = await openSqliteStore(settings.DATA_DIR);
  await again.adoptStream(await stream.id());
  await stream.close();
  await again.createList(workspaceId, 'small', NO_SETTINGS);
  await again.close();

  const weir = await startWeir(settings);
  try {
    const feed = `${weir.url}/v1/threat/feeds/small`;
    const etag = (await fetch(feed, { headers })).headers.get('etag')!;
    const poll = async (until: () => boolean) => {
      const times: number[] = [];
      while (!until()) {
        const begun = performance.now();
        // Connections are closed after a while; who polls opens another.
        const status = await fetch(feed, { headers: { ...headers, 'if-none-match': etag } }).then(
          (response) => response.status,
          () => undefined,
        );
        if (status === undefined) continue;
        if (status !== 304) throw new Error(`a poll was answered with ${status}`);
        times.push(performance.now() - begun);
        await sleep(5);
      }
      return times;
    };
    const pollsFor = (ms: number) => {
      const end = performance.now() + ms;
      return poll(() => performance.now() > end);
    };
    await pollsFor(2000);
    const without = await pollsFor(5000);
    const before = memoryMb(weir.pid);
    let isDone = false;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, memoryMb(weir.pid));
    }, 20);
    const answer = timed('the answer of GET /v1/manage/worth', '', async () => {
      let response = await fetch(`${weir.url}/v1/manage/worth`, { headers });
      while (response.status === 202) {
        await sleep(50);
        response = await fetch(weir.url + response.headers.get('location'), { headers });
      }
      if (response.status !== 200) throw new Error(`worth was answered with ${response.status}: ${await response.text()}`);
    }).finally(() => {
      isDone = true;
    });
    const beside = await poll(() => isDone);
    await answer;
    clearInterval(watch);
    await timed('the same again', '', async () => (await fetch(`${weir.url}/v1/manage/worth`, { headers })).text());
    const statuses = new Map<number, number>();
    let asking = FLOOD;
    for (let n = 0; n < FLOOD; n += 1)
      void fetch(`${weir.url}/v1/manage/lists/list-${n % LISTS}/worth`, { headers })
        .then(async (response) => {
          await response.arrayBuffer();
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        })
        .finally(() => {
          asking -= 1;
        });
    const besideMany = await timed(`${FLOOD} requests for lists at once`, '', () => poll(() => asking === 0));
    rows.push(
      ['their answers', [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '), ''],
      ['304s beside them, p99', `${p99(besideMany).toFixed(1)} ms of ${besideMany.length}`, ''],
      ['memory while it is counted', `${Math.round(most - before)} MiB more`, '150 MiB'],
      ['304s beside it, p99', `${p99(beside).toFixed(1)} ms of ${beside.length}`, `${(p99(without) + 5).toFixed(1)} ms`],
    );
  } finally {
    await weir.kill('SIGTERM');
  }
} finally {
  printTable(rows);
  rmSync(dir, { recursive: true });
}

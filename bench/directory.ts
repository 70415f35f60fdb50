/**
 * What a request for a list costs by the number of lists: `node bench/directory.ts [--lists 10000] [--rounds 5] [--engine postgres] [--json]`.
 * Requests for unknown lists and signals with `?list=` to a workspace with 10 lists and one with many, in turn, and how long the first
 * poll of an empty list takes. Fails when the many cost more than twice as much, or a first poll takes 5 ms
 * more than an answer of a bare server at the same time.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { v7 as uuid } from 'uuid';
import { keyParts } from '../src/account/key.ts';
import { NO_SETTINGS } from '../src/account/list.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { ENGINE_OPTION, openEngine } from './support/engine.ts';
import { report } from './support/figures.ts';
import { quantile } from './support/load.ts';
import { watchMachine } from './support/machine.ts';

const { values } = parseArgs({
  options: {
    lists: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean' },
    ...ENGINE_OPTION,
  },
});
const engine = await openEngine();
const MANY = Number(values.lists);
const ROUNDS = Number(values.rounds);
const ROUND_MS = 700;
const FEW = 10;
const LANES = 4;
const FIRST_POLLS = 50;
const LEAST_RATIO = 0.5;
const LONGEST_FIRST_POLL = 5;

const listName = (n: number) => `list ${n}`;

/** Makes a store with so many lists, besides the default one. */
async function fillLists(dataDir: string, databaseUrl: string | undefined, count: number): Promise<void> {
  const store = await (databaseUrl === undefined ? openSqliteStore(dataDir) : openPostgresStore(databaseUrl));
  const { workspaceId } = await store.bootstrap({ ...keyParts(KEY), onlyWhenEmpty: true });
  const lists = Array.from({ length: count }, (_, n) => ({
    ...NO_SETTINGS,
    id: uuid(),
    name: listName(n),
    description: null,
    isDefault: false,
  }));
  await store.restoreLists(workspaceId, lists);
  await store.close();
}

const agent = new Agent({ keepAlive: true, maxSockets: LANES });

/** Sends one request; its duration, ms. */
function ask(url: URL, expected: number, body?: string): Promise<number> {
  const sent = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEY}`, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) };
    request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      response.resume();
      response.on('end', () => {
        if (response.statusCode === expected) resolve(performance.now() - sent);
        else reject(new Error(`${response.statusCode} instead of ${expected}: ${url}`));
      });
    })
      .on('error', reject)
      .end(body);
  });
}

/** Requests a second over some connections; `next` sends the n-th request. */
async function rate(next: (n: number) => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  let sent = 0;
  const lane = async () => {
    while (performance.now() - begun < ROUND_MS) await next(sent++);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return (sent * 1000) / (performance.now() - begun);
}

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));

/** A server over a workspace with so many lists. */
async function start(count: number) {
  const dataDir = join(folder, String(count));
  const settings = await engine.settings();
  await fillLists(dataDir, settings.DATABASE_URL, count);
  const unlimited = { RATE_LIMIT_FEEDS: '0', RATE_LIMIT_SIGNALS: '0', LOG_LEVEL: 'error' };
  const weir = await startWeir({ ...settings, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: KEY, ...unlimited });
  const url = (target: string) => new URL(target, weir.url);
  const feed = (name: string) => url(`/v1/threat/feeds/${encodeURIComponent(name)}`);
  return {
    weir,
    unknown: (n: number) => ask(feed(`unknown ${n}`), 404),
    /** An entry that is refused, because the syncs of the disk would hide what finding the list costs. */
    post(n: number) {
      const event = { type: 'access_rules', action: 'block', ip: `10.0.${(n >> 8) & 255}.${n & 255}.0` };
      return ask(url(`/v1/signal?list=${encodeURIComponent(listName(n % FEW))}`), 206, JSON.stringify([event]));
    },
    firstPoll: (n: number) => ask(feed(listName(Math.floor((n * count) / FIRST_POLLS))), 200),
    again: () => ask(feed('default'), 200),
  };
}
type Server = Awaited<ReturnType<typeof start>>;

/** Rounds in turn, so that what else the machine does meets both; medians of the rounds and of their ratios. */
async function compare(name: string, send: (server: Server) => (n: number) => Promise<unknown>): Promise<(string | number)[]> {
  const rounds: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push([await rate(send(few)), await rate(send(many))]);
  const median = (value: (round: [number, number]) => number) => quantile(rounds.map(value), 0.5);
  return [name, median(([few]) => few), median(([, many]) => many), median(([few, many]) => many / few)];
}

const few = await start(FEW);
const many = await start(MANY);
for (const server of [few, many]) {
  for (let n = 0; n < 50; n += 1) await server.unknown(n);
  await server.again();
}
const polls: Record<'few' | 'many' | 'known', number[]> = { few: [], many: [], known: [] };
const machine = await watchMachine();
for (let n = 0; n < FIRST_POLLS; n += 1) {
  if (n < FEW) polls.few.push(await few.firstPoll(n * (FIRST_POLLS / FEW)));
  polls.many.push(await many.firstPoll(n));
  polls.known.push(await many.again());
}
const bare = quantile(await machine.end(), 0.5);
const rows = [
  await compare('unknown list, requests/s', ({ unknown }) => unknown),
  await compare('signals with ?list=, requests/s', ({ post }) => post),
];
const [fewPoll, manyPoll, known] = [polls.few, polls.many, polls.known].map((times) => quantile(times, 0.5));
agent.destroy();
for (const { weir } of [few, many]) await weir.kill('SIGTERM');
await engine.stop();
rmSync(folder, { recursive: true, force: true });
const heading = [engine.name, `${FEW} lists`, `${MANY} lists`, 'ratio'];
report(
  [
    heading,
    ...rows,
    ['first poll of an empty list, ms (median)', fewPoll, manyPoll, manyPoll / fewPoll],
    ['another poll of a list, ms (median)', '', known, ''],
  ],
  [
    ...rows.map(([what, , , ratio]) => ({
      what: `${what}, ${MANY} lists of ${FEW}`,
      figure: Number(ratio),
      limit: LEAST_RATIO,
      least: true as const,
    })),
    { what: `first poll of an empty list among ${MANY}, ms (median)`, figure: manyPoll, limit: LONGEST_FIRST_POLL, machine: bare },
  ],
);

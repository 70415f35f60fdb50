/**
 * What a large population needs: `node bench/growth.ts [--workspaces 100000] [--appliances 1000000] [--primaries 8] [--cost NAME=VALUE …]`.
 * A simulation, not a measurement: workspaces and appliances at random, with a few large ones as in life, spread over cells by the hash of
 * the workspace; what each does costs what was measured on one machine (`COSTS`; docs/engineering/growth.md says by which command). A cell is one
 * PostgreSQL primary with its topic and its processes. Prints what the population does, and what a mean and the fullest cell need.
 */
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { seededRandom } from '../test/support/random.ts';
import { printTable } from './support/load.ts';

/** Measured on two shared cores; CPU in µs, memory in bytes. */
const COSTS = {
  /** A 304 on a connection that stays open (bench/feed.ts), and the connection's making (bench/fleet.ts). */
  answer: 14,
  connection: 375,
  /** A changed body on its way, for each of its bytes, compressed (bench/feed.ts). */
  byte: 0.0004,
  /** An entry, from the socket to the store (bench/ingest.ts, bench/postgres.ts). */
  entry: 60,
  /** Taking a change into a snapshot, for each of its rules: select, merge, render, hash (bench/rebuild.ts). */
  rule: 0.25,
  /** Reading a snapshot anew, for each rule. */
  read: 0.8,
  /** A rule in a snapshot, with its sorted ranges and its bodies (bench/footprint.ts). */
  ruleMemory: 60,
  /** A rule in PostgreSQL, with its indexes. */
  ruleStored: 420,
  /** Of PostgreSQL: that a feed is asked for which was not for REBUILD_SECONDS, and an entry that lands (bench/ten-times.ts). */
  ask: 200,
  write: 25,
  /** On the wire, bytes: a 304 with its request, and the packets of a connection (TLS adds some 4,000). */
  pollBytes: 580,
  connectionBytes: 500,
};

const { values } = parseArgs({
  options: {
    workspaces: { type: 'string', default: '100000' },
    appliances: { type: 'string', default: '1000000' },
    primaries: { type: 'string', default: '8' },
    cost: { type: 'string', multiple: true, default: [] },
  },
});
for (const given of values.cost) {
  const [name, value] = given.split('=');
  if (!Object.hasOwn(COSTS, name) || Number.isNaN(Number(value))) {
    console.error(`--cost must be NAME=VALUE with one of: ${Object.keys(COSTS).join(', ')}, not "${given}"`);
    process.exit(2);
  }
  COSTS[name as keyof typeof COSTS] = Number(value);
}
const [workspaces, appliances, primaries] = [values.workspaces, values.appliances, values.primaries].map(Number);

/** How clients behave. */
const POLL_SECONDS = 60;
/** The part of polls that comes on a new connection: most appliances keep none. */
const NEW_CONNECTIONS = 0.8;
/** Seconds between two batches of a workspace at the median, and entries of a batch. */
const BATCH_SECONDS = 600;
const BATCH_ENTRIES = 20;
const ENTRY_BYTES = 17;
const GZIP = 0.3;
/** A feed whose appliances have all been silent is not rebuilt; one that changes is, at most so often. */
const REBUILD_SECONDS = 30;
/** Processes of a cell that answer polls: a balancer that goes by the key spreads a workspace's keys over them. */
const PROCESSES = 2;
/** How much of its core such a process may use in the mean. */
const SHARE = 0.6;

const random = seededRandom(16);
const FINE = 2 ** 30;
/** A log-normal value: half are below the median, a few are far above. */
function spread(median: number, sigma: number): number {
  const [a, b] = [random.below(FINE) + 1, random.below(FINE)].map((whole) => whole / FINE);
  return median * Math.exp(sigma * Math.sqrt(-2 * Math.log(a)) * Math.cos(2 * Math.PI * b));
}

interface Load {
  workspaces: number;
  rules: number;
  appliances: number;
  polls: number;
  entries: number;
  rebuilds: number;
  /** µs a second. */
  answering: number;
  landing: number;
  building: number;
  /** Of PostgreSQL. */
  storing: number;
  asks: number;
  /** Bytes a second. */
  polled: number;
  changed: number;
  memory: number;
  stored: number;
}
const none = (): Load => ({
  ...{ workspaces: 0, rules: 0, appliances: 0, polls: 0, entries: 0, rebuilds: 0 },
  ...{ answering: 0, landing: 0, building: 0, storing: 0, asks: 0, polled: 0, changed: 0, memory: 0, stored: 0 },
});

const cells = Array.from({ length: primaries }, none);
const weights = Array.from({ length: workspaces }, () => spread(1, 1.2));
const weight = weights.reduce((sum, each) => sum + each, 0);
for (let n = 0; n < workspaces; n++) {
  const cell = cells[createHash('sha256').update(`workspace ${n}`).digest().readUInt32BE() % primaries];
  const rules = Math.min(131_072, Math.round(spread(600, 1.6)));
  const devices = (appliances * weights[n]) / weight;
  const polls = devices / POLL_SECONDS;
  const batches = 1 / spread(BATCH_SECONDS, 1);
  const changes = Math.min(batches, 1 / REBUILD_SECONDS);
  const bodies = Math.min(polls, devices * changes);
  cell.workspaces += 1;
  cell.rules += rules;
  cell.appliances += devices;
  cell.polls += polls;
  cell.entries += batches * BATCH_ENTRIES;
  cell.rebuilds += changes;
  const changed = bodies * rules * ENTRY_BYTES * GZIP;
  const asks = PROCESSES * Math.min(polls / PROCESSES, 1 / REBUILD_SECONDS);
  cell.asks += asks;
  cell.polled += polls * (COSTS.pollBytes + NEW_CONNECTIONS * COSTS.connectionBytes);
  cell.changed += changed;
  cell.answering += polls * (COSTS.answer + NEW_CONNECTIONS * COSTS.connection) + changed * COSTS.byte;
  cell.storing += asks * COSTS.ask + batches * BATCH_ENTRIES * COSTS.write;
  cell.landing += batches * BATCH_ENTRIES * COSTS.entry;
  // Two formats of each feed: what is read and merged is shared.
  cell.building += changes * rules * COSTS.rule * 2;
  cell.memory += rules * COSTS.ruleMemory;
  cell.stored += rules * COSTS.ruleStored;
}

const all = none();
for (const cell of cells) for (const key of Object.keys(all) as (keyof Load)[]) all[key] += cell[key];
const cpu = ({ answering, landing, building }: Load) => answering + landing + building;
const fullest = cells.reduce((most, cell) => (cpu(cell) > cpu(most) ? cell : most));
const cores = (us: number) => us / 1e6;
const row = (name: string, of: (load: Load) => number) => [name, of(all), of(all) / primaries, of(fullest)];
printTable([
  ['', 'all', 'mean cell', 'fullest cell'],
  row('workspaces', (load) => load.workspaces),
  row('appliances, thousands', (load) => load.appliances / 1e3),
  row('rules, millions', (load) => load.rules / 1e6),
  row('polls a second', (load) => Math.round(load.polls)),
  row('entries a second', (load) => Math.round(load.entries)),
  row('rebuilds a second', (load) => Math.round(load.rebuilds)),
  row('looks at the store a second', (load) => Math.round(load.asks)),
  row('MB a second: polls and connections', (load) => load.polled / 1e6),
  row('MB a second: changed feeds', (load) => load.changed / 1e6),
  row('cores: answering', (load) => cores(load.answering)),
  row('cores: signals and landing', (load) => cores(load.landing)),
  row('cores: rebuilding', (load) => cores(load.building)),
  row('cores: PostgreSQL', (load) => cores(load.storing)),
  row('processes that answer', (load) => Math.ceil(cores(load.answering) / SHARE)),
  row('snapshots in memory, GB', (load) => load.memory / 1e9),
  row('rules in PostgreSQL, GB', (load) => load.stored / 1e9),
  row('all feeds read anew, core seconds', (load) => cores(load.rules * COSTS.read)),
]);

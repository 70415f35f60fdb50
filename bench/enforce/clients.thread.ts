/**
 * Light clients: each has a connection, waits for changes of its feed as weir-follow does, and notes when it has the complete answer.
 * Times are of one clock (CLOCK_MONOTONIC) for all threads and programs of the machine.
 */
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { changes } from './changes.ts';
import { type Counters, now, record } from './latencies.ts';

export interface LightClients {
  readonly counters: Counters;
  /** Each with its place, its key and the version that it has. */
  readonly clients: readonly { readonly url: string; readonly key: string; readonly since: string }[];
  /** Seconds. */
  readonly wait: number;
}

/** Pause of the follower between an answer and its next request, ms. */
const PAUSE = 100;

const { counters, clients, wait } = workerData as LightClients;
/** Number of each change by its sign and address. */
const numbers = new Map(changes(counters.answered.length).map(({ name }, number) => [name, number]));
/** The changes of a body: clients of one feed read the same one. */
const bodies = new Map<string, readonly number[]>();

interface Stream {
  readonly new: readonly { readonly value: string }[];
  readonly deleted: readonly { readonly value: string }[];
}

function changesOf(body: string): readonly number[] {
  const known = bodies.get(body);
  if (known !== undefined) return known;
  const { new: added, deleted } = JSON.parse(body) as Stream;
  const names = [...added.map(({ value }) => `+${value}`), ...deleted.map(({ value }) => `-${value}`)];
  const found = names.map((name) => numbers.get(name)).filter((number) => number !== undefined);
  bodies.set(body, found);
  if (bodies.size > 100) bodies.delete(bodies.keys().next().value!);
  return found;
}

function start({ url, key, since }: LightClients['clients'][number], place: number): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1').setNoDelay();
  const ask = (version: string) =>
    socket.write(
      `GET /v1/decisions/stream?since=${version}&wait=${wait} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nUser-Agent: light/${place}\r\n\r\n`,
    );
  let text = '';
  socket.on('data', (chunk: string) => {
    text += chunk;
    const head = text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1]);
    if (text.length < head + 4 + length) return;
    const at = now();
    const version = /^x-feed-version: (\S+)/im.exec(text)?.[1];
    const body = text.slice(head + 4);
    text = '';
    Atomics.add(counters.answers, 0, 1);
    if (version === undefined) {
      Atomics.add(counters.failures, 0, 1);
      setTimeout(ask, 1000, since);
      return;
    }
    for (const number of changesOf(body)) record(counters, number, at);
    setTimeout(ask, PAUSE, version);
  });
  socket.on('error', () => void Atomics.add(counters.failures, 0, 1));
  socket.on('connect', () => ask(since));
  return socket;
}

const sockets: Socket[] = [];
parentPort!.once('message', () => {
  for (const socket of sockets) socket.destroy();
});
for (const [place, client] of clients.entries()) {
  sockets.push(start(client, place));
  if (place % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 20));
}
parentPort!.postMessage('connected');

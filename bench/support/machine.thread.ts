/**
 * The threads of `machine.ts`. Without a URL: a bare server. Out: its URL. With one: a client that asks it until any message comes.
 * Out: that it is warm, then ms of each answer since.
 */
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

function serve(): void {
  const server = createServer((_request, response) => response.writeHead(304).end());
  server.listen(0, '127.0.0.1', () => parentPort!.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

async function ask(url: string, pace: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const waits: number[] = [];
  let over = false;
  parentPort!.once('message', () => {
    over = true;
  });
  const one = () =>
    new Promise((resolve, reject) => get(url, { agent }, (answer) => answer.resume().on('end', resolve)).on('error', reject));
  for (let n = 0; n < 20; n += 1) await one();
  parentPort!.postMessage('warm');
  while (!over) {
    const sent = performance.now();
    await one();
    waits.push(performance.now() - sent);
    await sleep(pace);
  }
  parentPort!.postMessage(waits);
}

const { url, pace } = workerData as { url: string | undefined; pace: number };
if (url === undefined) serve();
else await ask(url, pace);

/**
 * A thread that is another tenant's appliance: it polls over one connection until any message comes. Out: that it is warm, then ms of each
 * poll since, Infinity where it was not 200.
 */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { url, key } = workerData as { readonly url: string; readonly key: string };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { authorization: `Bearer ${key}` };
const waits: number[] = [];
let over = false;
parentPort!.once('message', () => {
  over = true;
});

const poll = () =>
  new Promise<number | undefined>((resolve) => {
    const asked = get(`${url}/v1/threat/feeds`, { agent, headers }, (answer) =>
      answer.resume().on('close', () => resolve(answer.statusCode)),
    );
    asked.on('error', () => resolve(undefined));
  });

// What the thread itself needs for its first polls is nobody's doing.
for (let n = 0; n < 20; n += 1) await poll();
parentPort!.postMessage('warm');
while (!over) {
  const sent = performance.now();
  const status = await poll();
  waits.push(status === 200 ? performance.now() - sent : Number.POSITIVE_INFINITY);
  await sleep(5);
}
agent.destroy();
parentPort!.postMessage(waits);

/** A thread that is a hostile client of bouncers' addresses: requests on eight connections, each under a name of its own. */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** What to send: requests with this method and body, `count` of them; `#` in the target is the number of the request. */
export interface BouncerFlood {
  readonly url: string;
  readonly key: string;
  readonly method: 'GET' | 'POST';
  readonly target: string;
  readonly bytes: number;
  readonly count: number;
}

const { url, key, method, target, bytes, count } = workerData as BouncerFlood;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const statuses: Record<number, number> = {};

/** Usage metrics of so many bytes, which all differ. */
const bodyOf = (n: number) => Buffer.from(`{"remediation_components":[{"type":"${n}","junk":"${'x'.repeat(bytes - 60)}"}]}`);

const once = (n: number) =>
  new Promise<void>((resolve) => {
    const headers = { 'x-api-key': key, 'user-agent': `crowdsec-firewall-bouncer/${n}-${'y'.repeat(230)}` };
    const asked = request(new URL(target.replace('#', String(n)), url), { method, agent, headers }, (answer) => {
      statuses[answer.statusCode!] = (statuses[answer.statusCode!] ?? 0) + 1;
      answer.resume().on('close', resolve);
    });
    asked.on('error', () => resolve());
    asked.end(method === 'POST' ? bodyOf(n) : undefined);
  });

let next = 0;
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (next < count) await once(next++);
  }),
);
agent.destroy();
parentPort!.postMessage(statuses);

/** Whether all that serve feeds tell the same (SPEC D5.10, D5.15): bytes, tags and dates. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openClient, type Reply, Violation } from '../api.ts';
import { VIEWS } from '../views.ts';

const toldBy = (reply: Reply | undefined, dates: boolean) =>
  reply === undefined
    ? 'nothing'
    : [reply.status, reply.headers.etag, dates && reply.headers['last-modified'], reply.status === 200 && reply.body].join(' ');

/** `dates`: dates are compared, too. Rejects with a violation where they still differ after `patience` ms. */
export async function checkAgreement(ports: readonly number[], key: string, dates: boolean, patience: number): Promise<void> {
  const clients = ports.map((port) => openClient(port, key));
  try {
    for (const deadline = performance.now() + patience; ; await sleep(400)) {
      const seen = await Promise.all(
        VIEWS.map(async (view) => ({
          view,
          answers: await Promise.all(clients.map(async (client) => toldBy(await client.ask(`/v1/threat/feeds${view}`), dates))),
        })),
      );
      const apart = seen.find(({ answers }) => new Set(answers).size > 1 || answers[0] === 'nothing');
      if (apart === undefined) return;
      if (performance.now() > deadline)
        throw new Violation(`replicas differ in ${apart.view || 'the workspace'}:\n${apart.answers.join('\n')}`);
    }
  } finally {
    for (const each of clients) each.close();
  }
}

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Tenant } from '../support/command.ts';
import { type Deployment, deploy } from '../support/deployment.ts';
import { type KafkaBroker, noKafka, startKafka } from '../support/kafka.ts';
import { noOwnPostgres, type OwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import type { Weir } from '../support/weir.ts';
import { agreement } from './agreement.ts';

describe('D5 replicas', { skip: noOwnPostgres() || noKafka(), timeout: 300_000 }, () => {
  let postgres: OwnPostgres;
  let kafka: KafkaBroker;
  const deployments: Deployment[] = [];
  const newDeployment = async (topic: string) => {
    const deployment = await deploy(postgres, kafka, topic);
    deployments.push(deployment);
    return deployment;
  };
  before(async () => {
    [postgres, kafka] = await Promise.all([startOwnPostgres({ fsync: 'off' }), startKafka()]);
  });
  after(async () => {
    for (const deployment of deployments) await deployment.stop();
    await kafka?.stop();
    await postgres?.stop();
  });

  test('D5 Last-Modified: on three replicas one ETag names one body, Last-Modified never goes back, and all agree in the end', async (t) => {
    const { polls, contents } = await agreement(await newDeployment('agreement'), 20, 3);
    assert.ok(polls > 100 && contents > 10, `${polls} polls of ${contents} contents`);
    t.diagnostic(`${polls} polls of ${contents} contents`);
  });

  test('D1 stop: a rolling restart of signal and feed processes fails no request', async (t) => {
    const deployment = await newDeployment('rolling');
    const [tenant] = await deployment.tenants();
    await deployment.start({ ROLES: 'consumer' });
    const start = () => deployment.start({ ROLES: 'signals,feeds', DRAIN_SECONDS: '1' });
    const processes = [await start(), await start()];
    let rolling = true;
    let answered = 0;
    const clients = Array.from({ length: 4 }, async (_, n) => {
      while (rolling) {
        await request(processes, tenant, n % 2 === 0);
        answered += 1;
      }
    });
    for (const n of [0, 1, 0, 1]) processes[n] = await deployment.restart(processes[n], 'SIGTERM');
    rolling = false;
    await Promise.all(clients);
    assert.ok(answered > 100);
    t.diagnostic(`${answered} requests answered`);
  });
});

/** One request to any process; a connection that is not made goes to the other one, as a load balancer does it. */
async function request(processes: readonly Weir[], { key }: Tenant, isPost: boolean): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const body = JSON.stringify([{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
  for (const { url } of [...processes].sort(() => Math.random() - 0.5)) {
    try {
      const asked = isPost ? fetch(`${url}/v1/signal`, { method: 'POST', headers, body }) : fetch(`${url}/v1/threat/feeds`, { headers });
      const response = await asked;
      assert.equal(response.status, 200, await response.text());
      return;
    } catch (error) {
      // Refused, or reset before it was accepted: nothing was sent.
      const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
      if (cause?.syscall !== 'connect') throw error;
    }
  }
  throw new Error('both processes refuse connections');
}

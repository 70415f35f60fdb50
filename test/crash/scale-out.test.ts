import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { noKafka } from '../support/kafka.ts';
import { noOwnPostgres } from '../support/postgres.ts';
import { type CrashMatrix, SCENARIOS, type ScenarioName, startCrashMatrix } from './scale-out.ts';

describe('D3 D4 PostgreSQL and Kafka under load', { skip: noOwnPostgres() || noKafka(), timeout: 600_000 }, () => {
  let matrix: CrashMatrix;
  before(async () => {
    matrix = await startCrashMatrix(400);
  });
  after(() => matrix?.stop());

  for (const name of Object.keys(SCENARIOS) as ScenarioName[]) {
    test(`6.2 D3 D4 ${SCENARIOS[name].title}: every acknowledged entry lands, once, in the order of its workspace`, async (t) => {
      const entries = await matrix.round(name);
      assert.ok(entries > 100);
      t.diagnostic(`${entries} entries acknowledged`);
    });
  }
});

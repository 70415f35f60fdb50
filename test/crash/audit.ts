/** What a crash test reads beside the rules: every record of the topic, and every single write of a rule. */
import assert from 'node:assert/strict';
import { type Deployment, PARTITIONS } from '../support/deployment.ts';
import { administer } from '../support/postgres.ts';
import { eventually } from '../support/weir.ts';

export interface Audit {
  /** Rejects when an entry is in the topic twice, or a rule was written with a version that is not above its last one. */
  check(): Promise<void>;
}

const TABLES = ['access_rules', 'waf_rules', 'smart_firewall_rules'];

/** Watches a deployment whose rules carry their name and version in `reason`; call it before the first of them. */
export async function openAudit({ database, stream }: Deployment): Promise<Audit> {
  await administer(
    database,
    `CREATE TABLE written (number BIGSERIAL, ref TEXT NOT NULL, version INTEGER NOT NULL);
     CREATE FUNCTION note_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO written (ref, version) VALUES (split_part(NEW.reason, ' ', 1), split_part(NEW.reason, ' ', 2)::int);
       RETURN NULL;
     END $$;
     ${TABLES.map((table) => `CREATE TRIGGER note AFTER INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION note_write();`).join('\n')}`,
  );
  const signals = new Set<string>();
  let streamId = await stream.id();
  let read = new Map<number, number>();

  async function checkTopic(): Promise<void> {
    const present = await stream.id();
    if (present !== streamId) read = new Map();
    streamId = present;
    // A broker that has just started refuses members until it has loaded its groups.
    const reader = await eventually(() => stream.join());
    try {
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        const { start, end } = await stream.bounds(partition);
        let at = read.get(partition) ?? start;
        while (at < end) {
          const records = await reader.read(partition, at, 10_000, 1000);
          for (const { headers, offset } of records) {
            assert.ok(!signals.has(headers.signal_id), `the signal ${headers.signal_id} is in the topic twice`);
            signals.add(headers.signal_id);
            at = offset + 1;
          }
        }
        read.set(partition, at);
      }
    } finally {
      await reader.close();
    }
  }

  async function checkWrites(): Promise<void> {
    const wrong = await administer(
      database,
      `SELECT ref, before, version FROM (SELECT ref, version, lag(version) OVER (PARTITION BY ref ORDER BY number) AS before FROM written) each
       WHERE before >= version LIMIT 5`,
    );
    assert.deepEqual(wrong, [], 'each write of a rule is of a later version');
  }

  return {
    async check() {
      await checkTopic();
      await checkWrites();
    },
  };
}

/** What a killed process held is free at once: nobody has to wait until its time has run out. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { PATIENT } from './weir.ts';

const PASSED = ['UPDATE leases SET until = 0', "UPDATE replacements SET held_until = 0 WHERE state IN ('planning', 'running')"];

export async function passTime({ DATABASE_URL, DATA_DIR }: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (DATABASE_URL === undefined) {
    using db = new DatabaseSync(join(DATA_DIR!, 'weir.db'), PATIENT);
    for (const text of PASSED) db.exec(text);
    return;
  }
  const client = new Client(DATABASE_URL);
  await client.connect();
  for (const text of PASSED) await client.query(text);
  await client.end();
}

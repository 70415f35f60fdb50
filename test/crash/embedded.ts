/**
 * kill -9 in the middle of a stream of POSTs, round after round on the same data: `node test/crash/embedded.ts [--rounds 20]`.
 * After each restart every acknowledged entry is there, none twice, and the last acknowledged change of a rule has won.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { StoreReads } from '../../src/ports/store.ts';
import { KINDS } from '../../src/rule.ts';
import { openSqliteReads } from '../../src/store/sqlite/store.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { smallGeo } from '../support/geo.ts';
import { postSignals } from '../support/http.ts';
import { KEY, startWeir, type Weir } from '../support/weir.ts';

/** What was sent of one rule: the versions that were acknowledged, and the highest that was tried. */
interface Sent {
  acknowledged: number;
  tried: number;
}
const LANES = 4;
/** Rules each lane updates again and again, besides the new ones. */
const UPDATED = 20;

/** All three kinds in one batch; `name` carries the version. */
function batchOf(lane: number, version: number): { ref: string; entry: Record<string, unknown> }[] {
  const entries = [];
  for (let i = 0; i < 90; i += 1) {
    const kind = KINDS[i % 3];
    const ref = i < UPDATED ? `lane${lane}-updated${i}` : `lane${lane}-${version}-${i}`;
    const rule =
      kind === 'access_rule'
        ? { target: { ip: `10.${lane}.${version % 256}.${i}` } }
        : { type: 'generated', action: 'block', expression: 'ip.src == 192.0.2.1', order: version };
    entries.push({
      ref: `${kind} ${ref}`,
      entry: { kind, op: 'upsert', rule_ref: ref, reason: String(version), rule: { name: 'crash', ...rule } },
    });
  }
  return entries;
}

async function lane(
  weir: Weir,
  number: number,
  firstVersion: number,
  sent: Map<string, Sent>,
  stop: () => boolean,
  onAcknowledged: () => void,
): Promise<number> {
  let version = firstVersion;
  while (!stop()) {
    version += 1;
    const batch = batchOf(number, version);
    for (const { ref } of batch) {
      const before = sent.get(ref) ?? { acknowledged: 0, tried: 0 };
      sent.set(ref, { ...before, tried: version });
    }
    try {
      const entries = batch.map(({ entry }) => entry);
      const { status, text } = await postSignals(weir.url, KEY, entries, '/v2/signal');
      assert.equal(status, 200, text);
      for (const { ref } of batch) sent.set(ref, { acknowledged: version, tried: version });
      onAcknowledged();
    } catch (error) {
      if (stop()) break;
      throw error;
    }
  }
  return version;
}

async function stored(reads: StoreReads): Promise<Map<string, number>> {
  const [workspace] = await reads.workspaces();
  const found = new Map<string, number>();
  for (const kind of KINDS) {
    for await (const { rule } of reads.rules(workspace.id, { kind, now: Date.now() })) {
      const ref = `${kind} ${rule.ruleRef}`;
      assert.ok(!found.has(ref), `${ref} is there twice`);
      found.set(ref, Number(rule.reason));
    }
  }
  return found;
}

/** Runs the rounds; rejects at the first broken promise. Returns how many entries were acknowledged. */
export async function crashRounds(rounds: number, report: (line: string) => void): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-crash-'));
  const sent = new Map<string, Sent>();
  let versions = Array.from({ length: LANES }, () => 0);
  const settings = { ...smallGeo(dir), DATA_DIR: dir, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0' };
  let weir = await startWeir(settings);
  for (let round = 1; round <= rounds; round += 1) {
    let killed = false;
    let batches = 0;
    const lanes = await new Promise<Promise<number>[]>((resolve, reject) => {
      const started = versions.map((version, n) =>
        lane(
          weir,
          n,
          version,
          sent,
          () => killed,
          () => {
            batches += 1;
            // So many batches, and somewhere in the middle of the next ones.
            if (batches === 1 + (round % 4)) setTimeout(() => resolve(started), (round * 37) % 60);
          },
        ),
      );
      Promise.all(started).catch(reject);
    });
    killed = true;
    await weir.kill('SIGKILL');
    versions = await Promise.all(lanes);
    weir = await startWeir(settings);
    const [reads, stream] = [openSqliteReads(dir), openSqliteStream(dir)];
    const { end } = await stream.bounds(0);
    const streamId = await stream.id();
    while (((await reads.position(streamId, 0)) ?? 0) < end) await new Promise((resolve) => setTimeout(resolve, 10));
    const rules = await stored(reads);
    for (const [ref, { acknowledged, tried }] of sent) {
      const version = rules.get(ref) ?? 0;
      assert.ok(
        version >= acknowledged && version <= tried,
        `round ${round}: ${ref} holds ${version}, acknowledged ${acknowledged}, tried ${tried}`,
      );
    }
    for (const ref of rules.keys()) assert.ok(sent.has(ref), `${ref} was never sent`);
    assert.deepEqual(await reads.deadLetters(10), []);
    await stream.close();
    await reads.close();
    report(`round ${round}: ${rules.size} rules, ${end} messages, nothing lost, nothing doubled`);
  }
  await weir.kill('SIGTERM');
  rmSync(dir, { recursive: true, force: true });
  return [...sent.values()].filter(({ acknowledged }) => acknowledged > 0).length;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
  await crashRounds(Number(values.rounds), console.log);
}

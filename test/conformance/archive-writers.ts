/** Two writers of one archive (SPEC D61.8). */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { readSegments, type SegmentHead } from '../../src/archive/segments.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { seededRandom } from '../support/random.ts';
import { archived, SERVICE, target } from './archive.ts';
import { access, type StoreDriver, upsert } from './store.ts';

const ROUNDS = 60;
const NEVER = Number.POSITIVE_INFINITY;

export function archiveWritersConformance(driver: StoreDriver): void {
  test(`D61.8 store ${driver.name}: two writers of one archive, killed and overtaken, lose, repeat and mix nothing`, async (t) => {
    const { store, workspace, land, at, start, settle, live, past, folder, reads } = await archived(t, driver);
    const random = seededRandom(618);
    const { id: listId } = await store.createList(workspace.id, 'one', NO_SETTINGS);
    await settle(async () => {});
    const writers = [start(), start()];
    const write = (which: number) => writers[which]!(workspace.id, at.now, SERVICE, true);
    const sentAt = new Map<string, string>();
    const asked: { readonly text: string; readonly when: number; readonly wanted: unknown }[] = [];
    const ends = { written: 0, killed: 0, overtaken: 0 };
    const landSome = async () => {
      const batchId = newBatchId(at.now);
      const change = () => upsert(access(target(`192.0.2.${random.below(20)}`), { action: random.below(4) === 0 ? 'allow' : 'block' }));
      await land(
        Array.from({ length: 3 }, () => ({ batchId, keyId: 'key', listId, change: change() })),
        at.now,
      );
      sentAt.set(new Date(at.now).toISOString(), batchId);
      at.now += 2000;
    };
    let overtake: (() => Promise<void>) | undefined;
    const { archivePage } = reads;
    Object.assign(reads, {
      async archivePage(...args: Parameters<typeof archivePage>) {
        const page = await archivePage(...args);
        const other = overtake;
        overtake = undefined;
        await other?.();
        return page;
      },
    });
    await write(0);
    for (let round = 0; round < ROUNDS; round += 1) {
      at.now += 1_200_000 + random.below(20_000_000);
      await landSome();
      if (random.below(6) === 0) await settle(() => store.updateList(workspace.id, listId, { widenV4: random.pick([24, null]) }));
      at.now += 1000;
      const text = `192.0.2.${random.below(20)}`;
      asked.push({ text, when: at.now, wanted: await live(text, at.now, sentAt) });
      at.now += 1000;
      const which = random.below(2);
      if (random.below(4) === 0) {
        overtake = async () => {
          // Once before midnight, and once after it.
          for (const later of [60_000, 86_400_000]) {
            await landSome();
            at.now += later;
            await write(1 - which);
          }
        };
      } else at.kill = random.below(3) > 0 ? random.below(4) : NEVER;
      try {
        await write(which);
        ends.written += 1;
      } catch (error) {
        const { message } = error as Error;
        assert.match(message, /^killed$|another process has written to|ENOENT/);
        ends[message === 'killed' ? 'killed' : 'overtaken'] += 1;
        if (message === 'killed') writers[which] = start();
      }
      [at.kill, overtake] = [NEVER, undefined];
    }
    await write(0);
    assert.ok(Math.min(...Object.values(ends)) > 5, JSON.stringify(ends));
    let until: SegmentHead['until'] | undefined;
    for (const name of readdirSync(folder).filter((each) => each.includes('changes'))) {
      let head: SegmentHead | undefined;
      await readSegments(join(folder, name), {
        head(next) {
          if (until !== undefined) assert.deepEqual(next.from, until);
          head = next;
          until = next.until;
          return true;
        },
        event(line) {
          const { seq } = JSON.parse(line) as { readonly seq: number };
          assert.ok(seq > head!.from!.seq && seq <= head!.until.seq, `${seq} in ${JSON.stringify(head)}`);
        },
      });
    }
    for (const { text, when, wanted } of asked) assert.deepEqual((await past(text, when)).said, wanted, new Date(when).toISOString());
    t.diagnostic(JSON.stringify(ends));
  });
}

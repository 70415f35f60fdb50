/** The clients of a crash test: each posts batch after batch for one workspace and knows what it was told. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreReads } from '../../src/ports/store.ts';
import { KINDS } from '../../src/rule.ts';

type Entry = Readonly<Record<string, unknown>>;

/** What was sent of one rule: the last version that was acknowledged, and the highest that was tried. */
interface Sent {
  acknowledged: number;
  tried: number;
}

export interface Lane {
  /** Batches acknowledged so far. Throws once `post` has rejected. */
  readonly acknowledged: number;
  /** Entries acknowledged. */
  readonly entries: number;
  /** Ends the batch that is under way and posts no more until `go`. */
  hold(): Promise<void>;
  go(): void;
  /** Rejects when a rule is not as acknowledged, or a version that was never tried. `stored` is what `storedVersions` found. */
  check(stored: ReadonlyMap<string, number>): void;
}

interface LaneOptions {
  /** Unique among the lanes of a test. */
  readonly name: string;
  readonly number: number;
  /** Entries of a batch. */
  readonly size: number;
  /** Posts a batch; whether it was acknowledged. Rejects when it was told what it must not be. */
  readonly post: (entries: readonly Entry[]) => Promise<boolean>;
  /** Pauses after a batch and after one that was not acknowledged, ms. */
  readonly pauses: { readonly done: number; readonly failed: number };
}

/** Rules by value that every second batch removes, of each lane. */
const SWITCHED = 4;

/** Starts to post at once. */
export function startLane({ name, number, size, post, pauses }: LaneOptions): Lane {
  const sent = new Map<string, Sent>();
  // The number of a batch is the version of all its entries.
  let [tried, acknowledged, entries] = [0, 0, 0];
  let going = false;
  let running: Promise<void> | undefined;
  let fault: Error | undefined;

  async function run(): Promise<void> {
    while (going) {
      tried += 1;
      const batch = batchOf(name, number, tried, size);
      for (const { ref } of batch) sent.set(ref, { acknowledged: 0, ...sent.get(ref), tried });
      const isAcknowledged = await post(batch.map(({ entry }) => entry));
      if (isAcknowledged) {
        acknowledged += 1;
        entries += batch.length;
        for (const { ref } of batch) sent.get(ref)!.acknowledged = tried;
      }
      await sleep(isAcknowledged ? pauses.done : pauses.failed);
    }
  }

  const lane: Lane = {
    get acknowledged() {
      if (fault !== undefined) throw fault;
      return acknowledged;
    },
    get entries() {
      return entries;
    },
    async hold() {
      going = false;
      await running;
    },
    go() {
      going = true;
      running = run();
      running.catch((error: Error) => {
        fault = error;
      });
    },
    check(stored) {
      for (const [ref, { acknowledged: least, tried: most }] of sent) {
        const found = stored.get(ref);
        const possible = Array.from({ length: most - least + 1 }, (_, i) => versionAfter(ref, least + i));
        assert.ok(possible.includes(found), `${ref} holds ${found}, acknowledged ${least}, tried ${most}`);
      }
      for (const ref of stored.keys()) assert.ok(!ref.startsWith(`${name}-`) || sent.has(ref), `${ref} was never sent`);
    },
  };
  lane.go();
  return lane;
}

/** What the store holds of a rule after this version of it; 0 is before the first. */
function versionAfter(ref: string, version: number): number | undefined {
  return version === 0 || (isSwitched(ref) && version % 2 === 0) ? undefined : version;
}

const isSwitched = (ref: string) => ref.includes('-switched');

/** All three kinds, by reference and by value, in one batch: rules that are new, updated, added and removed. `reason` carries rule and version. */
function batchOf(name: string, lane: number, version: number, size: number): { ref: string; entry: Entry }[] {
  const network = `10.${lane >> 8}.${lane & 255}`;
  return Array.from({ length: size }, (_, i) => {
    if (i < SWITCHED) {
      const ref = `${name}-switched${i}`;
      const op = versionAfter(ref, version) === undefined ? 'delete' : 'upsert';
      return { ref, entry: { kind: 'access_rule', op, reason: `${ref} ${version}`, rule: { target: { ip: `${network}.${i}` } } } };
    }
    const kind = KINDS[i % KINDS.length];
    const ref = `${name}-${kind}-${i < size / 3 ? `updated${i}` : `${version}.${i}`}`;
    const rule =
      kind === 'access_rule'
        ? { target: { ip: `172.16.${version % 256}.${i}` } }
        : { name: 'crash', type: 'generated', action: 'block', expression: 'ip.src == 192.0.2.1', order: version };
    return { ref, entry: { kind, op: 'upsert', rule_ref: ref, reason: `${ref} ${version}`, rule } };
  });
}

/** The version of each rule of a workspace; rejects when one is there twice. */
export async function storedVersions(store: Pick<StoreReads, 'rules'>, workspaceId: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const kind of KINDS) {
    for await (const { rule } of store.rules(workspaceId, { kind, now: Date.now() })) {
      const [ref, version] = (rule.reason ?? '').split(' ');
      assert.ok(!found.has(ref), `${ref} is there twice`);
      found.set(ref, Number(version));
    }
  }
  return found;
}

import { keyParts } from '../../src/account/key.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { Store } from '../../src/ports/store.ts';
import type { RuleChange } from '../../src/rule.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { KEY } from '../../test/support/weir.ts';

const BATCH = 8000;

/** A block of one IPv4 host. */
export const blockHost = (address: number, expiresAt: number | null, ruleRef: string | null = null): RuleChange => ({
  change: 'upsert',
  kind: 'access_rule',
  rule: {
    name: null,
    reason: 'brute force on the login page',
    labels: null,
    config: null,
    expiresAt,
    ruleRef,
    action: 'block',
    target: { kind: 'ip', network: { family: 4, address: address >>> 0, prefix: 32 } },
    confidence: null,
    severity: null,
  },
});

/** The n-th of up to 2^22 hosts, no two of them adjacent, in an order without pattern. */
export const scattered = (n: number): number => (Math.imul(n, 0x9e3779b1) >>> 10) * 1024 + 1;

interface FilledList {
  readonly name: string;
  readonly rules: number;
  readonly maxEntries: number;
}

/**
 * Fills an empty store directly: the key of the tests, and for each list as many scattered hosts as asked for.
 * The first entry is the default list.
 */
export async function fill(
  store: Store,
  lists: readonly FilledList[],
  expiresAt: (n: number) => number | null = () => null,
): Promise<void> {
  const { workspaceId } = await store.bootstrap({ ...keyParts(KEY), onlyWhenEmpty: true });
  let position: number | null = null;
  for (const [index, { name, rules, maxEntries }] of lists.entries()) {
    const listId =
      index === 0
        ? (await store.directory(workspaceId))!.lists[0].id
        : (await store.createList(workspaceId, name, { ...NO_SETTINGS, maxEntries })).id;
    if (index === 0) await store.updateList(workspaceId, listId, { maxEntries });
    for (let n = 0; n < rules; n += BATCH) {
      const now = Date.now();
      const items = Array.from({ length: Math.min(BATCH, rules - n) }, (_, i): LandingItem => {
        const record = { offset: n + i, timestamp: now, key: workspaceId, headers: {}, value: '' };
        return {
          record,
          workspaceId,
          listId,
          receivedAt: now,
          batchId: null,
          keyId: null,
          change: blockHost(scattered(n + i), expiresAt(n + i)),
        };
      });
      const from = position;
      position = (position ?? 0) + items.length;
      await store.apply({ streamId: 'fill', partition: 0, from, to: position, items, poison: [], now });
    }
  }
}

/** The same for an embedded store in a folder, with a stream whose beginning is its position. */
export async function fillStore(dataDir: string, lists: readonly FilledList[], expiresAt?: (n: number) => number | null): Promise<void> {
  const store = await openSqliteStore(dataDir);
  await fill(store, lists, expiresAt);
  const stream = openSqliteStream(dataDir);
  await store.adoptStream(await stream.id());
  await stream.close();
  await store.close();
}

/** Rule by rule; workspaces take turns (SPEC D21). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { layoutOf } from '@weir/expression/evaluate/value.ts';
import { systemClock } from '../../../clock.ts';
import type { StoreReads } from '../../../ports/store.ts';
import type { Recorded } from '../../../recording/exchange.ts';
import { sampledRequests } from '../../../sample/content.ts';
import type { Trial } from '../../../sample/judge.ts';
import { type Sample, sampleOf, type Tried } from '../../../sample/try-rule.ts';
import type { Config } from '../../../settings/settings.ts';
import { openSqliteReads } from '../../../store/sqlite/store.ts';
import { readSchemes } from '../../schemes.ts';

/** Least recently used workspaces go first. */
const CACHE_BYTES = 128 * 1024 * 1024;
/** Limits per rule, and per batch, ms. */
const RULE_MS = 500;
const BATCH_MS = 25_000;
/** Requests per turn. */
const BETWEEN_TURNS = 100;

interface Ready {
  readonly revision: number;
  readonly bytes: number;
  readonly sample: Sample;
}

export type SampleData = Pick<Config, 'databaseUrl' | 'dataDir' | 'schemesFile'>;

export async function serve({ databaseUrl, dataDir, schemesFile }: SampleData) {
  const schemes = readSchemes(schemesFile);
  const layout = layoutOf(schemes.waf_rule);
  const store: StoreReads & { close(): Promise<void> } =
    databaseUrl === undefined
      ? openSqliteReads(dataDir)
      : await (await import('../../../store/postgres/store.ts')).openPostgresStore(databaseUrl, { connections: { reads: 1, changes: 1 } });
  /** Least recently used first. */
  const cache = new Map<string, Ready>();
  const { monotonic } = systemClock;

  /** At least this revision, if it exists. */
  async function sampleFor(workspaceId: string, revision: number): Promise<Ready | undefined> {
    const known = cache.get(workspaceId);
    if (known !== undefined && known.revision >= revision) {
      cache.delete(workspaceId);
      cache.set(workspaceId, known);
      return known;
    }
    const read = await readSample(workspaceId);
    cache.delete(workspaceId);
    if (read === undefined) return undefined;
    cache.set(workspaceId, read);
    let bytes = cache.values().reduce((sum, each) => sum + each.bytes, 0);
    for (const [id, each] of cache) {
      if (bytes <= CACHE_BYTES || id === workspaceId) break;
      cache.delete(id);
      bytes -= each.bytes;
    }
    return read;
  }

  /** Reads again if it is replaced meanwhile. */
  async function readSample(workspaceId: string): Promise<Ready | undefined> {
    for (;;) {
      const info = await store.sample(workspaceId);
      if (info === undefined || info.requests === 0) return undefined;
      const parts: Uint8Array[] = [];
      for (
        let part = await store.samplePart(workspaceId, 0);
        part !== undefined;
        part = await store.samplePart(workspaceId, parts.length)
      ) {
        parts.push(part);
      }
      if ((await store.sample(workspaceId))?.revision !== info.revision) continue;
      const requests: Recorded[] = [];
      for (const request of sampledRequests(parts, layout)) if (requests.push(request) % BETWEEN_TURNS === 0) await nextTurn();
      return { revision: info.revision, bytes: info.bytes, sample: sampleOf(requests, schemes) };
    }
  }

  return {
    async tryRules({ workspaceId, revision, rules }: Trial): Promise<Tried[] | undefined> {
      const ready = await sampleFor(workspaceId, revision);
      if (ready === undefined) return undefined;
      const tried: Tried[] = [];
      let spent = 0;
      for (const rule of rules) {
        if (spent > BATCH_MS) {
          tried.push({ untried: `the rules of its batch take longer than ${BATCH_MS / 1000} s: send fewer at once`, tooSlow: true });
          continue;
        }
        const from = monotonic();
        tried.push(ready.sample.tryRule(rule, { most: RULE_MS, monotonic }));
        spent += monotonic() - from;
        await nextTurn();
      }
      return tried;
    },
    close: store.close,
  };
}

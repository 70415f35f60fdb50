/** Decisions of one feed on the feed thread: takes networks from builds and renders responses. */
import { randomUUID } from 'node:crypto';
import type { AddressSet } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { secondOf } from '../../clock.ts';
import type { PublishedContent, VersionedContent } from '../../feed/build/versioned-content.ts';
import type { Snapshot } from '../../feed/index/snapshot.ts';
import { entryLimitOf } from '../../feed/variant.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { NewLogRow } from '../../ports/stored/bouncer-store.ts';
import { type DecisionAnswer, type DecisionRequest, versionText } from '../decisions.ts';
import { CoverageCache } from './coverage-cache.ts';
import type { DecisionNetworks } from './covered-networks.ts';
import { type DecisionContent, decisionContent } from './decision-content.ts';
import { currentBody, streamBody } from './decision-json.ts';
import { DecisionLog } from './decision-log.ts';
import { NetworkDigest } from './network-digest.ts';
import { numbersInOrder, StableNumbers } from './numbered-lists.ts';
import type { PublishedNetworks } from './published-networks.ts';
import { placeAround } from './sorted-networks.ts';

interface DecisionLogStore {
  read(after: number): ReturnType<StoreReads['logRecords']>;
  /** Returns the row's number. */
  record(row: NewLogRow): Promise<number>;
}

export class FeedDecisions implements VersionedContent {
  readonly #store: DecisionLogStore;
  #log: DecisionLog | undefined;
  #content: DecisionContent | undefined;
  /** Names of the announced lists. */
  #names: readonly string[] = [];
  /** Decisions wider than one address. */
  #broad = 0;
  readonly #coverage = new CoverageCache();
  readonly #numbers = new StableNumbers();
  readonly #digest = new NetworkDigest();
  /** The last record read, and this object's own later ones. */
  #read = 0;
  readonly #own = new Set<number>();
  /** Pending while announcements are being stored (SPEC D35.6). Never rejects. */
  #recording: Promise<void> | undefined;

  constructor(store: DecisionLogStore) {
    this.#store = store;
  }

  /** In networks. */
  get size(): number {
    const { all, published } = this.#content ?? {};
    return this.#digest.size + (this.#log?.size ?? 0) + (all === undefined || all === published ? 0 : all.v4.length + all.v6.length);
  }

  /** Resolves once the store has recorded them. `now` in ms. */
  async publish(
    snapshot: Snapshot,
    parts: { readonly asOf: number; readonly geo: GeoDatabase; readonly guarded: AddressSet | undefined },
    now: number,
  ): Promise<PublishedContent> {
    const log = await this.#joined(now);
    const { profile } = snapshot.head;
    const entryLimit = entryLimitOf(profile);
    const { singleAddresses } = profile;
    const isNamed = profile.origins === 'lists';
    const stable = this.#numbers.of(snapshot.head);
    const numbered = (left: readonly number[]) => (isNamed ? numbersInOrder(snapshot.head, left) : stable);
    const content = decisionContent(snapshot, { ...parts, numbered, coverage: this.#coverage, entryLimit, singleAddresses });
    if ('count' in content) return { version: undefined, facts: { entryCount: content.count, entryLimit, nextExpiry: content.nextExpiry } };
    this.#content = content;
    this.#names = isNamed ? content.listNames : [];
    this.#broad = widerThan(content.published.v4.prefixes, 32) + widerThan(content.published.v6.prefixes, 128);
    await this.#announce(log, content, now);
    const { builder, version } = log.mark;
    const nextExpiry = Math.min(content.nextExpiry, log.nextDue);
    const facts = { entryCount: log.networks.until.length, entryLimit, nextExpiry, trimmed: content.trimmed };
    return { version: `${builder} ${version}`, facts };
  }

  /** undefined before the first build. `now` in ms. */
  async answer({ ask, filter, checks }: Omit<DecisionRequest, 'workspaceId' | 'feedId'>, now: number): Promise<DecisionAnswer | undefined> {
    const log = this.#log;
    while (this.#recording !== undefined) await this.#recording;
    if (log === undefined || this.#content === undefined) return undefined;
    log.passed(now);
    // After the clock stepped back, an announcement may be due that no build triggers.
    if (log.nextDue <= secondOf(now)) await this.#announce(log, this.#content, now);
    const { networks, mark } = log;
    const { all, leftOut, listNames } = this.#content;
    const count = networks.v4.length + networks.v6.length;
    const about = { mark, count, networks: this.#broad, leftOut };
    const texts = { networks, listNames, now, filter };
    if (!('since' in ask)) {
      const bytes = await currentBody({ ...texts, networks: withOwnExpiry(all, networks.names) }, placesAround(all, ask.network));
      return { bytes, since: null, ...about };
    }
    const changes = log.since(ask.since);
    const since = changes.isEverything ? null : ask.since;
    // Before the digest: both belong to this version.
    const bytes = await streamBody(texts, changes);
    const check = checks ? { version: versionText(mark), count, digest: await this.#digest.of(networks) } : undefined;
    return { bytes, since, check, ...about };
  }

  /** Resolves once the content is recorded. */
  async #announce(log: DecisionLog, content: DecisionContent, now: number): Promise<void> {
    log.take(content.published, now, this.#names);
    const recording = this.#record(log, now);
    this.#recording = recording;
    await recording;
    if (this.#recording === recording) this.#recording = undefined;
  }

  /** The log with the announcements of other processes; while the store is down, the local state. */
  async #joined(now: number): Promise<DecisionLog> {
    const known = this.#log;
    if (known === undefined) {
      const records = await this.#store.read(0);
      if (this.#log !== undefined) return this.#log;
      this.#read = records.at(-1)?.seq ?? 0;
      const log = new DecisionLog(randomUUID());
      log.restore(
        records.map(({ bytes }) => bytes),
        now,
      );
      this.#log = log;
      return log;
    }
    const records = await this.#store.read(this.#read).catch(() => []);
    const others = records.filter(({ seq }) => !this.#own.delete(seq));
    this.#read = Math.max(this.#read, ...records.map(({ seq }) => seq));
    known.join(
      others.map(({ bytes }) => bytes),
      now,
    );
    return known;
  }

  async #record(log: DecisionLog, now: number): Promise<void> {
    const record = log.takeRecord();
    if (record === undefined) return;
    try {
      const { bytes, isComplete } = record;
      this.#own.add(await this.#store.record({ bytes, isComplete, through: this.#read, at: now }));
    } catch {
      // Publish anyway: enforcement now matters more than the record for a restart.
      log.notWritten(record, now);
    }
  }
}

function widerThan(prefixes: Uint8Array, host: number): number {
  let count = 0;
  // Not for…of: its iterator caused most of a rebuild's garbage.
  for (let i = 0; i < prefixes.length; i++) if (prefixes[i] < host) count += 1;
  return count;
}

/** For look-ups. */
const withOwnExpiry = ({ v4, v6, coverage }: DecisionNetworks, names: PublishedNetworks['names']): PublishedNetworks => ({
  v4,
  v6,
  until: coverage.expires,
  lists: coverage.lists,
  names,
});

/** null: all. */
function placesAround(networks: DecisionNetworks, network: Network | null): Iterable<number> {
  if (network === null) return networks.coverage.expires.keys();
  const at = placeAround(networks, network);
  return at === undefined ? [] : [at];
}

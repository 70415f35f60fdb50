/** Before it is stored (SPEC D23.41): its content, the acceptable part, and its effect. */
import { addressCount, addressSet, difference, isEmpty } from '@weir/network/address-set.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import type { Workspace } from '../account/workspace.ts';
import { isoTime, turnOf } from '../clock.ts';
import { hasCode } from '../errors.ts';
import { trimmedText } from '../feed/trim.ts';
import { type Trial, type TrialOptions, tryRules } from '../feed/whatif/trial/trial.ts';
import { TriedRules } from '../feed/whatif/trial/tried-rules.ts';
import { AddressTally } from './addresses.ts';
import { broadOf, broadText } from './broad-targets.ts';
import { countingWarnings, type PlacedEntry, warningTexts } from './readers/content.ts';
import { hasExpired } from './readers/entry.ts';
import { type ContentOf, nothingSeen, readSource } from './refresh/content.ts';
import { guardFaults } from './refresh/guards.ts';

export interface TriedSource {
  readonly workspace: Workspace;
  readonly content: ContentOf;
  /** null: a new one. */
  readonly listId: string | null;
}

export type TriedContent =
  | {
      readonly kind: 'fetched';
      readonly bytes: number;
      readonly lastModified: string | undefined;
      readonly endsWithLineFeed: boolean;
      open(): AsyncIterable<Buffer>;
    }
  | { readonly kind: 'refused'; readonly status: number };

export interface TryPorts extends TrialOptions {
  /** Rejects with FETCH. */
  fetch(): Promise<TriedContent>;
  readonly mostBytes: number;
}

const MOST_LISTED = 20;
/** Entries between progress reports and turns. */
const TURN = 2000;

export type TryReport = Awaited<ReturnType<typeof trySource>>;

export interface TryJob {
  readonly workspaceId: string;
  readonly content: ContentOf;
  readonly listId: string | null;
  /** Authentication headers. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** Outside the main thread, one per workspace. Rejects with REFUSED or LIMITED if busy. */
export type SourceTrier = (job: TryJob) => Promise<TryReport>;

/** `fault`: why the content cannot be fetched or read. Rejects if the store does not answer. */
export async function trySource({ workspace, content, listId }: TriedSource, ports: TryPorts) {
  const { geo, guard, clock, onStep } = ports;
  const { name, url, purpose, guards } = content;
  const about = { name, url, purpose, list_id: listId };
  const rules = new TriedRules(purpose, geo);
  const seen = nothingSeen();
  const counts = { faults: 0, refused: 0, expired: 0, doubled: 0 };
  const faults: { place: string; message: string }[] = [];
  const refusals: { place: string; message: string }[] = [];
  const passed: Record<string, number> = {};
  const warnings = new Map<string, number>();
  const widest: { 4: Network | undefined; 6: Network | undefined } = { 4: undefined, 6: undefined };
  const hit = addressSet([]);
  const tally = new AddressTally(geo);
  let fetched: TriedContent;
  const failed = (fault: string) => ({ ...about, fault, content: null, trial: null });
  try {
    onStep(`fetching ${url}`);
    fetched = await ports.fetch();
    if (fetched.kind === 'refused') return failed(`the server answers ${fetched.status}`);
    onStep('reading');
    await read(fetched.open());
  } catch (error) {
    if (hasCode(error, 'FETCH') || hasCode(error, 'USAGE')) return failed(error.message);
    throw error;
  }
  const trial = await tryRules({ workspace, rules, listId, name }, ports);
  const { present, added, removed } = trial.change;
  const pause = () => turnOf(clock);
  tally.pushSet('before', purpose, trial.before);
  tally.pushSet('after', purpose, rules.listed.addresses);
  for (const network of [widest[4], widest[6]])
    if (network !== undefined && !isEmpty(difference(addressSet([network]), trial.before)))
      tally.noteNew({ action: purpose, target: { kind: 'ip', network } });
  const wide = seen.wide.length === 0 ? undefined : await broadOf(seen.wide, geo, pause);
  const plan = {
    ...{ present, added, removed, changed: 0, unchanged: present - removed, kept: 0, listed: present + added - removed },
    ...{ addresses: await tally.change(pause), passed, faults, isLarge: false, wide: 0 },
  };
  const facts = {
    wider: { count: seen.wider, first: seen.firstWider },
    wide: wide && broadText(wide),
    broadBefore: listId !== null,
    undone: undefined,
    hadContent: listId !== null,
  };
  const holds = guardFaults({ ...plan, failed: counts.faults, refused: counts.refused, expired: counts.expired }, facts, guards);
  const { v4, v6, countries, asns } = rules.counts;
  const at = fetched.lastModified === undefined ? Number.NaN : Date.parse(fetched.lastModified);
  const addresses = addressCount(rules.listed.addresses);
  return {
    ...about,
    fault: null,
    content: {
      bytes: fetched.bytes,
      last_modified: Number.isNaN(at) ? null : isoTime(at),
      said_entries: seen.said,
      whole: wholeness(seen.said !== null || content.reading.paths.length > 0, fetched.endsWithLineFeed),
      entries: v4 + v6 + countries + asns,
      ...{ v4, v6, countries, asns },
      addresses_v4: addresses.v4,
      addresses_v6: addresses.v6,
      widest_v4: widest[4] === undefined ? null : formatNetwork(widest[4]),
      widest_v6: widest[6] === undefined ? null : formatNetwork(widest[6]),
      doubled: counts.doubled,
      expired: counts.expired,
      passed,
      warnings: warningTexts(warnings),
      faults: { count: counts.faults, first: faults },
      refused: { count: counts.refused, first: refusals },
      protected: guard.within(hit).slice(0, MOST_LISTED),
    },
    trial: { ...trialJson(trial), holds },
  };

  async function read(bytes: AsyncIterable<Buffer>): Promise<void> {
    const mayBeBlocked = (network: Network) => guard.faults(network).length === 0;
    let rows = 0;
    for await (const each of countingWarnings(readSource(bytes, content, ports.mostBytes, mayBeBlocked, seen), warnings)) {
      rows += 1;
      if (rows % TURN === 0) {
        onStep(`reading, ${rows} rows`);
        await turnOf(clock);
      }
      if ('passed' in each) {
        const reason = each.passed in passed || Object.keys(passed).length < MOST_LISTED ? each.passed : 'other reasons';
        passed[reason] = (passed[reason] ?? 0) + 1;
      } else if ('fault' in each) {
        counts.faults += 1;
        if (faults.length < MOST_LISTED) faults.push({ place: each.place, message: each.fault });
      } else take(each);
    }
  }

  function take({ entry, place }: PlacedEntry): void {
    const { target } = entry;
    if (hasExpired(entry, clock.now())) {
      counts.expired += 1;
      return;
    }
    const network = target.kind === 'ip' ? target.network : undefined;
    const why = network === undefined || purpose === 'allow' ? [] : guard.faults(network);
    if (network !== undefined && why.length > 0) {
      counts.refused += 1;
      if (refusals.length < MOST_LISTED) refusals.push({ place, message: `${formatNetwork(network)} ${why.join('; ')}` });
      if (network.family === 4) hit.v4.pushNetwork(network.address, network.prefix);
      else hit.v6.pushNetwork(network.address, 0, network.prefix);
      return;
    }
    if (!rules.take(target)) counts.doubled += 1;
    else if (network !== undefined && network.prefix < (widest[network.family]?.prefix ?? 129)) widest[network.family] = network;
  }
}

export const WHOLENESS = ['said', 'last_line', 'not_known'] as const;

/** `isSaid`: an own count, or closed JSON. */
const wholeness = (isSaid: boolean, endsWithLineFeed: boolean): (typeof WHOLENESS)[number] =>
  isSaid ? 'said' : endsWithLineFeed ? 'last_line' : 'not_known';

const trialJson = ({ overlaps, neverBlock, feeds, change, leftOut }: Trial) => ({
  ...change,
  overlaps: overlaps.map(({ kind, name, entries, v4, v6 }) => ({ kind, name, entries, addresses_v4: v4, addresses_v6: v6 })),
  never_block: neverBlock,
  feeds: feeds.map(({ kind, name, action, before, after, limit, leftOut: left }) => ({
    ...{ kind, name, action, entries_before: before, entries_after: after, entry_limit: limit },
    fits: after <= limit,
    left_out: left === undefined ? null : trimmedText(left),
  })),
  left_out: leftOut,
});

/** As rules (SPEC D23.11), with statistics. */
import type { Network } from '@weir/network/network.ts';
import type { Source } from '../../account/source.ts';
import { WeirError } from '../../errors.ts';
import type { Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { broadTarget } from '../broad-targets.ts';
import { type PassedRow, type PlacedEntry, readContent } from '../readers/content.ts';
import type { ListEntry } from '../readers/entry.ts';
import type { LineFault } from '../readers/items.ts';
import { readCondition, readPath } from '../readers/paths.ts';
import { taxiiEntries } from '../taxii/list.ts';

/** An instant, unlike a lifetime, is equal in every refresh. */
export const FOR_GOOD = Date.UTC(2120, 0, 1);

export interface Seen {
  entries: number;
  wider: number;
  firstWider: string;
  /** The content's own count of entries, if any. */
  said: number | null;
  hasEnds: boolean;
  readonly wide: Pick<ListEntry, 'target' | 'action'>[];
}

export const nothingSeen = (): Seen => ({ entries: 0, wider: 0, firstWider: '', said: null, hasEnds: false, wide: [] });

export interface ContentOf extends Pick<Source, 'name' | 'purpose' | 'reading' | 'guards'> {
  readonly url: string;
}

type Entries = AsyncGenerator<PlacedEntry | LineFault | PassedRow>;

/**
 * Drops fields beyond the source's purpose; fills `seen`. Rejects with USAGE for content in no known form, truncated by its own count, or
 * with too many entries. `mostBytes`: unpacked.
 */
export async function* readSource(
  bytes: AsyncIterable<Buffer>,
  { url, purpose, reading, guards }: Omit<ContentOf, 'name'>,
  mostBytes: number,
  mayBeBlocked: (network: Network) => boolean,
  seen: Seen,
): Entries {
  const { format, paths, condition, column, skip } = reading;
  const defaults = { action: purpose, expiresIn: undefined, reason: undefined, labels: {} };
  const given = {
    file: new URL(url).pathname,
    paths: paths.map(readPath),
    condition: condition === null ? undefined : readCondition(condition),
    column: column ?? undefined,
    skip,
    mostBytes,
    onCount: (count: number) => {
      seen.said = count;
    },
  };
  const content =
    format === 'taxii' || format === 'misp-feed'
      ? { entries: taxiiEntries(bytes, defaults) }
      : await readContent(bytes, { ...given, format: format ?? undefined }, defaults);
  if ('signals' in content) {
    for await (const _ of content.signals) throw new WeirError('USAGE', 'it is neither a list nor JSON with recognizable entries');
    return;
  }
  for await (const each of content.entries) {
    if ('passed' in each) {
      yield each;
      continue;
    }
    seen.entries += 1;
    if (seen.entries > guards.maxEntries) throw new WeirError('USAGE', `it has more than ${guards.maxEntries} entries (max_entries)`);
    if ('fault' in each) yield each;
    else if (each.entry.action !== purpose)
      yield { fault: `it asks to ${each.entry.action}, and the source is for ${purpose}`, place: each.place };
    else {
      see(each.entry.target, each.entry);
      seen.hasEnds ||= each.entry.expiry !== undefined;
      yield { ...each, entry: asRule(each.entry) };
    }
  }

  function see(target: Target, entry: ListEntry): void {
    if (broadTarget(entry) !== undefined) seen.wide.push({ target, action: entry.action });
    if (target.kind !== 'ip') return;
    const { family, prefix } = target.network;
    if (prefix >= (family === 4 ? guards.minPrefixV4 : guards.minPrefixV6)) return;
    if (purpose === 'block' && !mayBeBlocked(target.network)) return;
    seen.wider += 1;
    seen.firstWider ||= formatTarget(target);
  }
}

/** A rule identified by its value, permanent unless the content gives an expiry. */
const asRule = (entry: ListEntry): ListEntry => ({
  ...entry,
  ruleRef: undefined,
  expiry: entry.expiry ?? (entry.action === 'block' ? { at: FOR_GOOD } : undefined),
});

/**
 * Trims a feed to its cap (SPEC D29.5): each step excludes the last remaining list, or raises the quorum by one. Pure function of the
 * previous step and the entries of each step.
 */
import type { QuorumSettings, SnapshotHead, TrimState } from '../../ports/snapshot.ts';
import type { Trimmed, TrimResult } from '../trim.ts';
import type { ListCut } from './content.ts';

/** An excluded part returns only if the feed then has at most this share of its cap: no flapping at the edge. */
export const COMES_BACK = 0.95;

export interface TrimmedFeed {
  readonly quorum: QuorumSettings;
  readonly lists: readonly { readonly id: string }[];
}

const removable = ({ always }: QuorumSettings): number[] => always.flatMap((isEnough, place) => (isEnough ? [] : [place]));

/** The last step leaves only the `always` lists. */
export const stepsOf = (quorum: QuorumSettings): number =>
  quorum.fit === 'lists' ? removable(quorum).length : Math.max(0, quorum.always.length + 1 - quorum.minSources);

export function cutAt(quorum: QuorumSettings, step: number): ListCut {
  if (quorum.fit === 'sources') return { left: [], least: quorum.minSources + step };
  return { left: step === 0 ? [] : removable(quorum).slice(-step), least: quorum.minSources };
}

export function stateAt({ quorum, lists }: TrimmedFeed, step: number): TrimState | undefined {
  if (step === 0) return undefined;
  const { left, least } = cutAt(quorum, step);
  return quorum.fit === 'sources' ? least : lists[left[0]!]!.id;
}

/** Restores a stored step; 0 if the state belongs to other settings. */
export function stepOf({ quorum, lists }: TrimmedFeed, state: TrimState | undefined): number {
  if (state === undefined) return 0;
  const last = stepsOf(quorum);
  if (quorum.fit === 'sources') return typeof state === 'number' ? Math.min(last, Math.max(0, state - quorum.minSources)) : 0;
  const at = removable(quorum).findIndex((place) => lists[place]?.id === state);
  return at < 0 ? 0 : last - at;
}

/** The smallest fitting step, with hysteresis relative to `before`. undefined: none fits, or the feed would be empty. */
export function fittingStep(before: number, last: number, limit: number, countAt: (step: number) => number): number | undefined {
  const isOver = (step: number) => countAt(step) > limit;
  const mayComeBack = (step: number) => countAt(step) <= limit * COMES_BACK;
  const from = before > 0 && countAt(before) === 0 ? 0 : before;
  if (!isOver(from)) return from - gallop(from, (steps) => mayComeBack(from - steps));
  const more = 1 + gallop(last - from, (steps) => isOver(from + steps));
  const step = from + more;
  return step > last || countAt(step) === 0 ? undefined : step;
}

/** Largest number of steps up to `most` for which `goesOn` holds, found by galloping search. */
function gallop(most: number, goesOn: (steps: number) => boolean): number {
  let [known, tried] = [0, 1];
  while (tried <= most && goesOn(tried)) [known, tried] = [tried, 2 * tried];
  let no = Math.min(tried, most + 1);
  while (no - known > 1) {
    const middle = (known + no) >>> 1;
    if (goesOn(middle)) known = middle;
    else no = middle;
  }
  return known;
}

type Trimmable = Pick<SnapshotHead, 'quorum' | 'lists'>;

export interface ChosenCut {
  readonly cut: ListCut;
  readonly trimmed: TrimResult;
}

/**
 * undefined if the feed has no trimmable lists. If no step fits, nothing is excluded and the feed is over its cap. `key` names the variants
 * with equal entries and stores the trim.
 */
export function chosenCut(
  { quorum, lists }: Trimmable,
  key: string,
  limit: number,
  entriesOf: (cut: ListCut) => number,
): ChosenCut | undefined {
  if (quorum === undefined || quorum.fit === null) return undefined;
  const feed = { quorum, lists };
  const [last, counts] = [stepsOf(quorum), new Map<number, number>()];
  const countAt = (step: number): number => {
    const count = counts.get(step) ?? entriesOf(cutAt(quorum, step));
    counts.set(step, count);
    return count;
  };
  const found = fittingStep(stepOf(feed, quorum.fits.get(key)), last, limit, countAt);
  const step = found ?? 0;
  const state = stateAt(feed, step);
  if (state !== undefined) quorum.fits.set(key, state);
  else if (found !== undefined) quorum.fits.delete(key);
  const cut = cutAt(quorum, step);
  const next = found === undefined || step === last ? undefined : nextText(feed, cutAt(quorum, step + 1));
  return { cut, trimmed: { leftOut: step === 0 ? undefined : leftOutOf(feed, cut, entriesOf), next } };
}

/** The trim chosen last; undefined if the feed has no trimmable lists. */
export function storedCut({ quorum, lists }: Trimmable, key: string): ListCut | undefined {
  if (quorum === undefined || quorum.fit === null) return undefined;
  return cutAt(quorum, stepOf({ quorum, lists }, quorum.fits.get(key)));
}

function leftOutOf(
  { quorum, lists }: Pick<SnapshotHead, 'lists'> & TrimmedFeed,
  cut: ListCut,
  entriesOf: (cut: ListCut) => number,
): Trimmed {
  const { minSources: asked } = quorum;
  if (quorum.fit === 'sources')
    return { fit: 'sources', minSources: cut.least, asked, entries: entriesOf({ left: [], least: asked, below: cut.least }) };
  const others = (place: number) => lists.flatMap((_, other) => (other === place ? [] : [other]));
  const of = cut.left.map((place) => ({ name: lists[place]!.name, entries: entriesOf({ left: others(place), least: 1 }) }));
  return { fit: 'lists', lists: of };
}

const nextText = ({ quorum, lists }: Pick<SnapshotHead, 'lists'> & TrimmedFeed, { left, least }: ListCut): string =>
  quorum.fit === 'sources' ? `what fewer than ${least} lists have` : `the list ${lists[left[0]!]!.name}`;

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

const MOST_TRIED = 32;

const removable = ({ always }: QuorumSettings): number[] => always.flatMap((isEnough, place) => (isEnough ? [] : [place]));

/** The last step leaves only the `always` lists. */
const stepsOf = (quorum: QuorumSettings): number =>
  quorum.fit === 'lists' ? removable(quorum).length : Math.max(0, quorum.always.length + 1 - quorum.minSources);

function cutAt(quorum: QuorumSettings, step: number): ListCut {
  if (quorum.fit === 'sources') return { left: [], least: quorum.minSources + step };
  return { left: step === 0 ? [] : removable(quorum).slice(-step), least: quorum.minSources };
}

function stateOf({ quorum, lists }: TrimmedFeed, { left, least }: ListCut): TrimState | undefined {
  if (quorum.fit === 'sources') return least === quorum.minSources ? undefined : least;
  return left.length === 0 ? undefined : left.map((place) => lists[place]!.id).join(' ');
}

/** Nothing is left out if the state belongs to other settings. */
function cutOf({ quorum, lists }: TrimmedFeed, state: TrimState | undefined): ListCut {
  const whole = cutAt(quorum, 0);
  if (quorum.fit === 'sources') {
    const { minSources, always } = quorum;
    return typeof state === 'number' ? { ...whole, least: Math.min(always.length + 1, Math.max(minSources, state)) } : whole;
  }
  const ids = String(state ?? '').split(' ');
  const left = removable(quorum).filter((place) => ids.includes(lists[place]!.id));
  return { ...whole, left: left.length < ids.length ? [] : left };
}

/** The step of a cut: with `lists`, the one whose first list left out is the same. */
const stepOf = (quorum: QuorumSettings, { left, least }: ListCut): number =>
  quorum.fit === 'sources' ? least - quorum.minSources : left.length === 0 ? 0 : stepsOf(quorum) - removable(quorum).indexOf(left[0]!);

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

const stepwise = (quorum: QuorumSettings | undefined): quorum is QuorumSettings => quorum?.fit === 'lists' || quorum?.fit === 'sources';

/**
 * undefined if the feed is not trimmed by lists or quorum. If no step fits, nothing is excluded and the feed is over its cap. `key` names
 * the variants with equal entries and stores the trim.
 */
export function chosenCut(
  { quorum, lists }: Trimmable,
  key: string,
  limit: number,
  entriesOf: (cut: ListCut) => number,
): ChosenCut | undefined {
  if (!stepwise(quorum)) return undefined;
  const feed = { quorum, lists };
  const counts = new Map<string, number>();
  const countOf = (cut: ListCut): number => {
    const name = `${cut.left} ${cut.least}`;
    const count = counts.get(name) ?? entriesOf(cut);
    counts.set(name, count);
    return count;
  };
  const before = cutOf(feed, quorum.fits.get(key));
  const step = fittingStep(stepOf(quorum, before), stepsOf(quorum), limit, (at) => countOf(cutAt(quorum, at)));
  const found = withSmaller(quorum, step, before, limit, countOf);
  const cut = found ?? cutAt(quorum, 0);
  const state = stateOf(feed, cut);
  if (state !== undefined) quorum.fits.set(key, state);
  else if (found !== undefined) quorum.fits.delete(key);
  const next = found === undefined || step === undefined || step === stepsOf(quorum) ? undefined : nextText(feed, cutAt(quorum, step + 1));
  return { cut, trimmed: { leftOut: state === undefined ? undefined : leftOutOf(feed, cut, entriesOf), next } };
}

/** The cut of a step without the smaller lists that fit behind the first one left out; undefined: nothing fits. */
function withSmaller(
  quorum: QuorumSettings,
  step: number | undefined,
  before: ListCut,
  limit: number,
  countOf: (cut: ListCut) => number,
): ListCut | undefined {
  if (quorum.fit === 'sources') return step === undefined ? undefined : cutAt(quorum, step);
  let cut = cutAt(quorum, step ?? stepsOf(quorum));
  if (countOf(cut) > limit) return undefined;
  for (const place of cut.left.slice(step === undefined ? 0 : 1).slice(0, MOST_TRIED)) {
    const more = { ...cut, left: cut.left.filter((each) => each !== place) };
    const wasLeft = before.left.includes(place);
    if (countOf(more) <= (wasLeft ? limit * COMES_BACK : limit)) cut = more;
  }
  return countOf(cut) === 0 && cut.left.length > 0 ? undefined : cut;
}

/** The trim chosen last; undefined if the feed is not trimmed by lists or quorum. */
export function storedCut({ quorum, lists }: Trimmable, key: string): ListCut | undefined {
  return stepwise(quorum) ? cutOf({ quorum, lists }, quorum.fits.get(key)) : undefined;
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

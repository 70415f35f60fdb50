/** On the source's state (SPEC D23.12 to D23.20), and reports. Times in ms. */
import type { Applying, RefreshOnHold, Source, SourceState } from '../../account/source.ts';
import type { SourceRun } from '../../account/source-run.ts';
import { UNCOUNTED } from '../../account/source-state.ts';
import type { SyncPlan } from '../sync.ts';
import { waitAfter } from './schedule.ts';

export interface Answered {
  readonly digest: string;
  readonly validators: { readonly etag?: string; readonly lastModified?: string };
  readonly endsWithLineFeed: boolean;
  /** See `SourceState.signedAt`. */
  readonly signedAt?: number | undefined;
}

export type Outcome =
  | { readonly kind: 'unchanged'; readonly answered?: Answered }
  | { readonly kind: 'known'; readonly text: string; readonly answered?: Answered }
  | { readonly kind: 'applied'; readonly applying: Applying; readonly plan: SyncPlan; readonly answered?: Answered }
  | { readonly kind: 'held'; readonly held: RefreshOnHold; readonly plan: SyncPlan; readonly answered?: Answered }
  /** `retryAfter`: the server's requested pause, ms. */
  | { readonly kind: 'failed'; readonly text: string; readonly retryAfter?: number | undefined; readonly answered?: undefined }
  | {
      readonly kind: 'stopped';
      readonly stop: 'refused' | 'secret';
      readonly text: string;
      readonly retryAfter?: number;
      readonly answered?: undefined;
    }
  | { readonly kind: 'discarded'; readonly answered?: undefined };

export interface Effort {
  readonly at: number;
  readonly ms: number;
  readonly bytes: number;
}

type Timed = Pick<Source, 'every'> & { readonly least: number; readonly random: number };

const seenOf = ({ digest, validators: { etag, lastModified }, signedAt }: Answered) => ({
  seen: digest,
  etag: etag ?? null,
  lastModified: lastModified ?? null,
  ...(signedAt !== undefined && { signedAt }),
});

export function settled(state: SourceState, outcome: Outcome, { every, least, random }: Timed, now: number): SourceState {
  const next = (failures: number, retryAfter?: number) =>
    now + waitAfter({ every: every * 1000, least: least * 1000 }, failures, retryAfter, random);
  const { answered } = outcome;
  const good = {
    ...state,
    ...(answered !== undefined && seenOf(answered)),
    applying: null,
    failures: 0,
    fault: null,
    stop: null,
    fetchedAt: now,
    nextAt: next(0),
    until: null,
    waits: null,
  };
  const alone = (retryAfter = 0) => ({ applying: null, waits: null, until: retryAfter > 0 ? now + retryAfter : null });
  switch (outcome.kind) {
    case 'unchanged':
      // Origin and list are equal: nothing to hold.
      return { ...good, held: null, confirmedAt: now, ...(state.hasEnds && { countedFor: UNCOUNTED }) };
    case 'known':
      return good;
    case 'held':
      return { ...good, held: outcome.held };
    case 'applied':
      // Accepted content was fetched earlier.
      return applied(answered === undefined ? { ...state, fault: null } : good, outcome.applying, outcome.plan, answered);
    case 'failed':
      return {
        ...state,
        ...alone(outcome.retryAfter),
        failures: state.failures + 1,
        fault: outcome.text,
        nextAt: next(state.failures + 1, outcome.retryAfter),
      };
    case 'stopped':
      return { ...state, ...alone(outcome.retryAfter), failures: state.failures + 1, fault: outcome.text, stop: outcome.stop };
    case 'discarded':
      return { ...state, held: null, discarded: state.held?.digest ?? state.discarded };
  }
}

/** Possibly of an earlier process. */
export function applied(
  state: SourceState,
  { replacement, at, digest, hasBroad, hasEnds = false, equalSeq = state.equalSeq }: Applying,
  plan: SyncPlan,
  answered?: Pick<Answered, 'endsWithLineFeed'>,
): SourceState {
  const isChanged = plan.added + plan.changed + plan.removed > 0;
  const changedAt = isChanged ? at : state.changedAt;
  // An undo after the comparison still counts.
  const undone = state.undone !== null && state.undone.seq > equalSeq ? state.undone : null;
  const now = { ...state, applying: null, entries: plan.listed, countedFor: null, changedAt, undone, equalSeq };
  // Expired content returns with any next content.
  if (digest === null) return { ...now, expired: true, digest: null, seen: null, replacement: null };
  return {
    ...now,
    held: null,
    digest,
    confirmedAt: at,
    endsWithLineFeed: answered?.endsWithLineFeed ?? false,
    hasBroad,
    hasEnds,
    replacement,
    expired: false,
  };
}

export function knownContent(
  { digest, held, discarded, undone }: SourceState,
  content: string,
): (Pick<Outcome, 'kind'> & { readonly text: string }) | undefined {
  if (content === held?.digest) return { kind: 'known', text: 'the content is still the one on hold' };
  if (content === discarded) return { kind: 'known', text: 'the content is still the one that was discarded' };
  if (content !== digest) return undefined;
  if (undone !== null) return { kind: 'known', text: `the content is still the one that was undone by batch ${undone.batch}` };
  return { kind: 'unchanged', text: '' };
}

export function runOf(outcome: Outcome, { at, ms, bytes }: Effort): SourceRun {
  const plan = 'plan' in outcome ? outcome.plan : undefined;
  const { added = 0, changed = 0, removed = 0, unchanged = 0, refused = 0, failed = 0 } = plan ?? {};
  const text = outcome.kind === 'held' ? outcome.held.reason : 'text' in outcome ? outcome.text : '';
  return {
    at,
    outcome: RUN_OUTCOMES[outcome.kind],
    ms,
    bytes,
    entries: added + changed + unchanged + refused + failed,
    added,
    removed,
    refused,
    faults: failed,
    replacement: outcome.kind === 'applied' ? outcome.applying.replacement : outcome.kind === 'held' ? outcome.held.replacement : null,
    text,
  };
}

const RUN_OUTCOMES = {
  unchanged: 'unchanged',
  known: 'unchanged',
  applied: 'applied',
  held: 'held',
  failed: 'failed',
  stopped: 'stopped',
  discarded: 'discarded',
} as const satisfies Record<Outcome['kind'], SourceRun['outcome']>;

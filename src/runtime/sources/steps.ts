/** With outcome and run (SPEC D23.15 to D23.19). */
import type { SourceState } from '../../account/source.ts';
import { askedAfter } from '../../account/source-run.ts';
import { WeirError } from '../../errors.ts';
import { type FetchedContent, readPieces } from '../../fetch/content-file.ts';
import {
  type Applied,
  type ApplyPorts,
  type ApplyTask,
  applyContent,
  applyExpiry,
  applyOnHold,
  discardOnHold,
  resumedApply,
} from '../../manage/sources/apply.ts';
import type { inTurns } from '../../serial.ts';
import { comparedPages } from '../../source/current-rules.ts';
import { type Answered, applied, type Effort, knownContent, type Outcome, runOf, settled } from '../../source/refresh/outcome.ts';
import { type Known, moveTo, noteUndone, noteWait } from './known.ts';
import type { Wait } from './politeness.ts';
import type { RefresherPorts } from './ports.ts';

export interface StepPorts extends RefresherPorts {
  readonly write: (sources: readonly Known[]) => Promise<boolean>;
  /** Limits concurrent comparisons, one per workspace: they use CPU. */
  readonly inTurn: ReturnType<typeof inTurns>;
  readonly signal: AbortSignal;
}

export type SourceSteps = ReturnType<typeof sourceSteps>;

export function sourceSteps(ports: StepPorts) {
  const { apply, write, inTurn, leastInterval, random, monotonic } = ports;
  const { now } = apply;

  const taskOf = async (one: Known): Promise<ApplyTask> => {
    const { source } = one.record;
    const caller = await ports.callerOf(source);
    if (caller === undefined) throw new WeirError('REFUSED', 'its workspace was deleted');
    return {
      source,
      state: await withUndone(one),
      caller,
      checkpoint: async (applying) => {
        // After a crash here the next process does not request again immediately.
        const nextAt = applying.isAccepted ? one.state.nextAt : now() + source.every * 1000;
        moveTo(one, { ...one.state, applying, nextAt });
        return await write([one]);
      },
    };
  };

  /** The turn is free while entries wait for a limit. */
  const comparing = (one: Known, work: (ports: ApplyPorts, task: ApplyTask) => Promise<Applied>): Promise<Applied> =>
    inTurn(
      async (aside) => work({ ...apply, sleep: (seconds) => aside(() => apply.sleep(seconds)) }, await taskOf(one)),
      one.record.source.workspaceId,
    );

  /** Unchanged lists are stored with the next regular write. */
  async function finish(one: Known, outcome: Outcome, effort: Effort, answers?: number): Promise<void> {
    const { source } = one.record;
    const { failures, held, waits } = one.state;
    const next = settled(one.state, outcome, { every: source.every, least: leastInterval(source.url), random: random() }, now());
    moveTo(one, next, runOf(outcome, effort), answers);
    const isQuiet =
      (outcome.kind === 'unchanged' || outcome.kind === 'known') &&
      answers === undefined &&
      failures === 0 &&
      held === null &&
      waits === null;
    if (!isQuiet) await write([one]);
    if (answers !== undefined) forget(one, answers);
  }

  const effort = (began: number, bytes = 0): Effort => ({ at: now(), ms: Math.round(monotonic() - began), bytes });

  const outcomeOf = ({ applying, plan, held }: Applied, state: SourceState, answered?: Answered): Outcome =>
    held === undefined
      ? { kind: 'applied', applying, plan, ...(answered && { answered }) }
      : { kind: 'held', held: holdOf({ applying, plan, held }), plan, answered: answered ?? lastAnswer(state) };

  return {
    finish,
    effort,

    async wait(sources: readonly Known[], wait: Wait): Promise<void> {
      await write(sources.filter((each) => noteWait(each, wait, { now, monotonic })));
    },

    async take(one: Known, content: FetchedContent): Promise<Outcome> {
      const state = await withUndone(one);
      const { digest, validators, endsWithLineFeed, signedAt, bytes, file } = content;
      const answered = { digest, validators, endsWithLineFeed, signedAt };
      const known = knownContent(state, digest);
      // After an undo the list may equal this content.
      if (known !== undefined && state.undone === null) return { ...known, answered } as Outcome;
      if (state.endsWithLineFeed && !endsWithLineFeed && bytes > 0)
        return { kind: 'failed', text: 'it is truncated: its last line is incomplete, unlike before' };
      const open = () => readPieces(file);
      const stays = known && new WeirError('REFUSED', known.text);
      try {
        const done = await comparing(one, (to, task) => applyContent(to, task, { digest, at: now(), open, stays }));
        return outcomeOf(done, one.state, answered);
      } catch (error) {
        if (known === undefined || error !== stays) throw error;
        return { ...known, answered } as Outcome;
      }
    },

    async takeUnchanged(one: Known): Promise<Outcome> {
      const state = await withUndone(one);
      if (state.seen === null) return { kind: 'known', text: 'a refresh was undone meanwhile: the content is fetched again' };
      return (
        (knownContent(state, state.seen) as Outcome | undefined) ?? {
          kind: 'failed',
          text: 'the server reports no change, but its previous content is unknown',
        }
      );
    },

    /** Resumes an interrupted application. */
    async goOn(one: Known): Promise<void> {
      const { source } = one.record;
      const applying = one.state.applying!;
      const done = await resumedApply(apply, source.workspaceId, applying);
      // Another process completes it.
      if (done === undefined) throw new WeirError('REFUSED', 'it is being applied');
      const begun = { ...one.state, applying: null };
      if (done === null) moveTo(one, applying.isAccepted && applying.digest !== null ? withoutHold(begun) : { ...begun, nextAt: now() });
      else {
        const outcome = outcomeOf(done, begun);
        const next = outcome.kind === 'applied' ? applied(begun, applying, done.plan) : withHold(begun, outcome);
        // Content read with old settings is obsolete.
        const isOther = applying.revision !== source.revision;
        const reset = { ...next, digest: null, seen: null, etag: null, lastModified: null, nextAt: now() };
        // Later requests need another refresh.
        const { asked } = one.record;
        const answers = asked?.replacement === applying.replacement ? asked.at : undefined;
        moveTo(one, isOther ? reset : next, runOf(outcome, { at: applying.at, ms: 0, bytes: 0 }), answers);
        forget(one, answers);
      }
      await write([one]);
    },

    async accept(one: Known): Promise<void> {
      const [{ asked }, { held, seen, fetchedAt }, began] = [one.record, one.state, monotonic()];
      if (held === null || held.replacement !== asked!.replacement) return await answer(one);
      const at = seen === held.digest && fetchedAt !== null ? fetchedAt : held.since;
      try {
        const done = await comparing(one, (to, task) => applyOnHold(to, task, held.replacement, { digest: held.digest, at }));
        await finish(one, outcomeOf(done, one.state), effort(began), asked!.at);
      } catch (error) {
        if (!isObsolete(error)) throw error;
        moveTo(one, { ...withoutHold(one.state), fault: (error as Error).message });
        await answer(one);
      }
    },

    async discard(one: Known): Promise<void> {
      const [{ asked }, { held }, began] = [one.record, one.state, monotonic()];
      if (held === null || held.replacement !== asked!.replacement) return await answer(one);
      await discardOnHold(apply, held.replacement);
      await finish(one, { kind: 'discarded' }, effort(began), asked!.at);
    },

    /** Counts after changes by others. */
    async recount(one: Known): Promise<void> {
      const { workspaceId, listId } = one.record.source;
      await apply.untilLanded();
      const { undone } = await withUndone(one);
      let entries = 0;
      for await (const rules of comparedPages(apply.store, workspaceId, listId, now(), apply.pause)) entries += rules.length;
      const isOther = entries !== one.state.entries;
      moveTo(one, { ...one.state, entries, countedFor: undone?.batch ?? null });
      if (isOther) await write([one]);
    },

    /** Empties lists without confirmation for too long. */
    async expire(one: Known): Promise<void> {
      const began = monotonic();
      const { applying, plan } = await comparing(one, applyExpiry);
      const run = { ...runOf({ kind: 'applied', applying, plan }, effort(began)), outcome: 'expired' as const };
      moveTo(one, applied(one.state, applying, plan), { ...run, text: 'its content was not confirmed for too long: the list is emptied' });
      await write([one]);
    },
  };

  async function answer(one: Known): Promise<void> {
    const at = answeredBy(one);
    moveTo(one, one.state, undefined, at);
    await write([one]);
    forget(one, at);
  }

  async function withUndone(one: Known): Promise<SourceState> {
    const { workspaceId, id } = one.record.source;
    const found = await ports.store.source(workspaceId, id);
    if (found !== undefined) noteUndone(one, found.state.undone);
    return one.state;
  }
}

const answeredBy = ({ record: { asked } }: Known): number | undefined => asked?.at;

function forget(one: Known, at: number | undefined): void {
  if (at !== undefined) one.record = { ...one.record, asked: askedAfter(one.record.asked, at) };
}

const isObsolete = (error: unknown) => error instanceof WeirError && (error.code === 'REFUSED' || error.code === 'USAGE');

/** Without its content on hold; fetched again. */
const withoutHold = (state: SourceState): SourceState => ({ ...state, held: null, seen: null, etag: null, lastModified: null });

const lastAnswer = ({ seen, etag, lastModified, endsWithLineFeed }: SourceState): Answered => ({
  digest: seen ?? '',
  validators: { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) },
  endsWithLineFeed,
});

const withHold = (state: SourceState, outcome: Outcome): SourceState =>
  outcome.kind === 'held' ? { ...state, held: outcome.held } : state;

const holdOf = ({ applying, plan, held }: Applied & { readonly held: string }) => ({
  replacement: applying.replacement,
  since: applying.at,
  reason: held,
  digest: applying.digest!,
  difference: {
    present: plan.present,
    added: plan.added,
    changed: plan.changed,
    removed: plan.removed,
    unchanged: plan.unchanged,
    refused: plan.refused,
    failed: plan.failed,
    addresses: plan.addresses,
  },
});

/** Written by one process at a time, read by look-ups (SPEC D61). */
import type { ServiceSettings } from '../../archive/settings.ts';
import type { PastAnswer, PastDifference, PastReader } from '../../manage/lookup/past.ts';
import type { Log } from '../../ports/log.ts';
import { fairQueue } from '../../schedule/fair-queue.ts';
import type { OwnedLease } from '../sources/lease.ts';
import { answerOf, onDemand } from './job.ts';
import { JOBS } from './table.ts';
import type { ArchiveData } from './work/archive.ts';
import type { PastData } from './work/past.ts';

/** How often a turn renews its lease, ms. */
const RENEWED = 10_000;

interface Writing extends ArchiveData {
  readonly lease: OwnedLease;
  readonly service: () => ServiceSettings;
  readonly log: Log;
}

/** A failure is logged once, until it ends. */
export function archiveThread({ lease, service, log, ...data }: Writing) {
  const { use, end, kill } = onDemand('archive', () => [data]);
  let failed = false;

  async function turn(): Promise<void> {
    if ((await lease.claim()) === undefined) return;
    const renewal = setInterval(() => {
      lease.claim().then(
        (owned) => (owned === undefined ? kill() : undefined),
        () => kill(),
      );
    }, RENEWED).unref();
    try {
      const done = await use((archive) => archive.turn(service()));
      for (const report of done.reports) log('error', report);
      note(done.failed);
    } finally {
      clearInterval(renewal);
    }
  }

  function note(failure: string | undefined): void {
    if (failure !== undefined && !failed) log('error', `the archive in ${data.dir} cannot be written, and is written later: ${failure}`);
    if (failure === undefined && failed) log('info', `the archive in ${data.dir} is written again`);
    failed = failure !== undefined;
  }

  let turning: Promise<void> | undefined;
  return {
    turn(): Promise<void> {
      turning ??= turn()
        .catch((error: Error) => note(error.message))
        .finally(() => {
          turning = undefined;
        });
      return turning;
    },
    /** Interrupts a turn: files are complete at every moment. */
    async close(): Promise<void> {
      await (turning === undefined ? end() : kill());
      await turning;
      await lease.release().catch(() => {});
    },
  };
}

type Reading = Pick<PastData, 'settings' | 'dir'> & { readonly service: () => ServiceSettings };

/** One answer per workspace at a time. Rejects with LIMITED, and like `pastLookUp` and `pastDifference`. */
export function archiveReader({ service, ...data }: Reading): PastReader {
  const line = fairQueue(JOBS.past.line);
  const answer = <T>(asked: PastData['asked']) =>
    line(asked.workspaceId, () => answerOf('past', { ...data, service: service(), asked }) as Promise<T>);
  return { lookUp: answer<PastAnswer>, difference: answer<PastDifference> };
}

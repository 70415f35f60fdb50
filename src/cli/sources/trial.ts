import { systemClock } from '../../clock.ts';
import type { StoreReads } from '../../ports/store.ts';
import { politeFetching } from '../../runtime/sources/fetching.ts';
import { inTrialFolder } from '../../runtime/sources/trial-folder.ts';
import { fetchTried, runTrial, trialVisit } from '../../runtime/sources/try-job.ts';
import { recallAll } from '../../runtime/sources/visits.ts';
import type { TryJob, TryReport } from '../../source/try-source.ts';
import { type Context, printable } from '../context.ts';
import { servedParts } from '../feed-parts.ts';

/** Tries a source in this process (SPEC D23.41), with progress on a terminal. */
export async function trySource(context: Context, store: StoreReads, job: TryJob): Promise<TryReport> {
  const { config, stderr } = context;
  const show = (text: string) => void (stderr.isTTY === true && stderr.write(`\r\x1b[K${printable(text)}`));
  const { geo, guardRails } = await servedParts(context);
  const { visits } = politeFetching(config, config.dataDir, systemClock);
  await recallAll(visits.politeness, store, systemClock);
  using visit = trialVisit(visits, job);
  const report = await inTrialFolder((folder) =>
    runTrial(job, {
      ...{ settings: config, store, geo, guardRails, fetch: () => fetchTried(job, config, folder, visit.before) },
      onStep: show,
    }),
  );
  show('');
  return report;
}

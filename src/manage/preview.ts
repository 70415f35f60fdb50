/** What batches would do, before they are sent: each judged as it would be then, and all of them together counted in feeds. */
import { type ForecastFields, forecastFields } from '../feed/monitor/forecast-fields.ts';
import type { AcceptedBatch, Batch, Refused } from '../signal/accept.ts';
import type { RuleManagement } from './rules/rule-ports.ts';

/** What became of a batch, or would. */
export type BatchResult = AcceptedBatch | Refused;

/** Judges batches of one workspace and list without publishing them, and counts what all of them together would change of feeds. */
export async function previewBatches(
  { accept, forecast, pause }: Pick<RuleManagement, 'accept' | 'forecast'> & { pause(): Promise<void> },
  batches: readonly Omit<Batch, 'dryRun'>[],
): Promise<{ readonly results: readonly BatchResult[]; readonly feeds: ForecastFields }> {
  const results: BatchResult[] = [];
  for (const batch of batches) {
    await pause();
    results.push(await accept({ ...batch, dryRun: true }));
  }
  const [first, ...others] = results.flatMap((result) => (result.refused === undefined ? [result.foreseen] : []));
  const messages = [first, ...others].flatMap((signals) => signals?.messages ?? []);
  if (first === undefined || messages.length === 0) return { results, feeds: { feeds: [] } };
  return { results, feeds: await forecastFields(forecast, { ...first, messages }, false) };
}

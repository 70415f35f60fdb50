import { type ForecastFields, forecastFields } from '../feed/monitor/forecast-fields.ts';
import type { AcceptedBatch, Batch, Refused } from '../signal/accept.ts';
import type { RuleManagement } from './rules/rule-ports.ts';

export type BatchResult = AcceptedBatch | Refused;

/** Rejects with REFUSED if all of them together wait for approval (SPEC D67.2). */
export async function checkApproval(
  { accept, gate }: Pick<RuleManagement, 'accept' | 'gate'>,
  batches: readonly Omit<Batch, 'dryRun'>[],
): Promise<void> {
  async function* messages() {
    for (const batch of batches) yield (await accept({ ...batch, dryRun: true, isPlan: true })).foreseen?.messages ?? [];
  }
  await gate.check(messages());
}

/** Checks batches without publishing them; counts their combined effect. */
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

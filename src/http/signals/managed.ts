/** Signal submission for management: the same judge, and previews that count all batches of a file together. */
import type { FeedForecast } from '../../feed/serve/forecast.ts';
import type { RefusedBatch, SignalBatch, Submission, TakenBatch } from '../../manage/submission.ts';
import type { Message } from '../../ports/stream.ts';
import type { HttpFault } from '../errors.ts';
import { dryRunFields } from './dry-run.ts';
import { type SignalAnswer, type SignalParts, signalSubmission } from './submit.ts';

/** Submission with what it needs. */
export function managedSubmission(parts: SignalParts): Submission {
  const submit = signalSubmission(parts);
  return {
    submit: async (batch) => resultOf(await submit(requestOf(batch, false))),
    async preview(batches) {
      const messages: Message[] = [];
      let listId: string | undefined;
      const gathering: FeedForecast = {
        async dryRun(signals) {
          messages.push(...signals.messages);
          listId = signals.listId;
          return { unknown: '' };
        },
        accepted() {},
      };
      const tryOut = signalSubmission({ ...parts, forecast: gathering });
      const results: (TakenBatch | RefusedBatch)[] = [];
      for (const batch of batches) results.push(resultOf(await tryOut(requestOf(batch, true))));
      if (messages.length === 0) return { results, feeds: { feeds: [] } };
      const foreseen = { workspaceId: batches[0]!.caller.workspaceId, listId, messages, listOnly: false };
      return { results, feeds: await dryRunFields(READING, () => parts.forecast?.dryRun(foreseen)) };
    },
  };
}

/** Who manages rules may know what they do to feeds. */
const READING = { permissions: ['feed:read'] } as const;

const requestOf = ({ version, caller, list, body }: SignalBatch, dryRun: boolean) => ({
  version,
  caller: { ...caller, ...READING },
  query: { ...(list !== undefined && { list }), ...(dryRun && { dry_run: '1' }) },
  body,
});

function resultOf(answer: SignalAnswer | HttpFault): TakenBatch | RefusedBatch {
  if (!('body' in answer)) {
    const { status, message = 'The service cannot take signals now', headers } = answer as HttpFault;
    const wait = headers?.['Retry-After'];
    return { status, message, retryAfter: wait === undefined ? undefined : Number(wait) };
  }
  const { errors = [], warnings = [] } = answer.body;
  return { errors, warnings, batchId: answer.batchId };
}

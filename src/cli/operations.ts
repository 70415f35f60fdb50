/** Operations of people over rules: put on the stream as one batch, and waited for (SPEC D9). */
import { createInterface } from 'node:readline/promises';
import type { Workspace } from '../account/workspace.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Operation } from '../rule.ts';
import { encodeOperation } from '../signal/message.ts';
import { BATCH_SIGNALS, newBatchId, signalId } from '../signal/signal-id.ts';
import type { Context } from './context.ts';
import { untilLanded } from './landed.ts';
import { publish } from './publish.ts';

/** An operation and the list whose rules it means; null where it means none. */
export interface ListOperation {
  readonly operation: Operation;
  readonly listId: string | null;
}

/** A batch that was put on the stream. */
export interface Operated {
  /** The ids of the batches, one for so many operations as a batch holds. */
  readonly batches: readonly string[];
  /** Messages that wait for a consumer. */
  readonly unlanded: number;
}

/** The rules as everything leaves them that was accepted until now; a person is asked about what is there. */
export async function settledReads(context: Context): Promise<StoreReads> {
  const reads = await context.reads();
  await untilLanded(context, await context.stream(), reads);
  return reads;
}

/** Puts operations on the stream and waits until they have landed. */
export async function operate(
  context: Context,
  reads: StoreReads,
  { id: workspaceId, organizationId }: Workspace,
  operations: readonly ListOperation[],
): Promise<Operated> {
  const stream = await context.stream();
  const receivedAt = await reads.ping();
  const batches: string[] = [];
  for (let at = 0; at < operations.length; at += BATCH_SIGNALS) {
    const batchId = newBatchId(receivedAt);
    const messages = operations.slice(at, at + BATCH_SIGNALS).map(({ operation, listId }, i) =>
      encodeOperation(operation, {
        workspaceId,
        organizationId,
        listId: listId ?? undefined,
        receivedAt,
        signalId: signalId(batchId, i + 1),
      }),
    );
    await publish(context, stream, messages, 'nothing has changed');
    batches.push(batchId);
  }
  return { batches, unlanded: await untilLanded(context, stream, reads) };
}

/** What is said of messages that wait. */
export const waiting = ({ unlanded }: Operated): string =>
  unlanded === 0 ? '' : `\n${unlanded} messages wait on the stream: they land when weir runs with the role consumer`;

/** Asks the person; `--yes` has answered already. Throws USAGE where nobody can answer, and where the answer is not yes. */
export async function confirm({ stderr }: Context, question: string, isConfirmed: boolean | undefined): Promise<void> {
  if (isConfirmed) return;
  if (!process.stdin.isTTY) throw new WeirError('USAGE', `${question}\nnothing has changed; add --yes to do it`);
  const terminal = createInterface({ input: process.stdin, output: stderr });
  try {
    if (!/^y(es)?$/i.test((await terminal.question(`${question}\ndo it? [y/N] `)).trim()))
      throw new WeirError('USAGE', 'nothing has changed');
  } finally {
    terminal.close();
  }
}

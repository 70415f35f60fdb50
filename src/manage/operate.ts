/** SPEC D9. */
import { type Sender, senderOf } from '../account/caller.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Message } from '../ports/stream.ts';
import type { RuleOperation } from '../rule.ts';
import { encodeOperation } from '../signal/message/encode.ts';
import { BATCH_SIGNALS, newBatchId, signalId } from '../signal/message/signal-id.ts';

export interface RulePorts {
  readonly reads: StoreReads;
  /** Resolves when durable. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Returns the number left after the longest wait. */
  untilLanded(): Promise<number>;
}

export interface Operator extends Sender {
  readonly workspaceId: string;
  readonly organizationId: string;
}

/** Rejects with REFUSED after the longest wait: the result would be incomplete (D34.3). */
export async function allLanded({ untilLanded }: Pick<RulePorts, 'untilLanded'>): Promise<void> {
  const left = await untilLanded();
  if (left > 0) throw new WeirError('REFUSED', `${left} messages accepted before have not landed yet: try again`);
}

/** null: no list. */
export interface ListOperation {
  readonly operation: RuleOperation;
  readonly listId: string | null;
}

/** null: no list. */
export interface ListMessage {
  readonly listId: string | null;
  readonly encode: (context: Parameters<typeof encodeOperation>[1]) => Message;
}

export interface Operated {
  readonly batches: readonly string[];
  /** Messages that did not land in time. */
  readonly unlanded: number;
}

/** Waits for landing. */
export async function operate(
  ports: RulePorts,
  operator: Operator,
  operations: readonly ListOperation[],
  perBatch = BATCH_SIGNALS,
): Promise<Operated> {
  const receivedAt = await ports.reads.ping();
  const batches: string[] = [];
  const messages: Message[] = [];
  for (let at = 0; at < operations.length; at += perBatch) {
    const batchId = newBatchId(receivedAt);
    batches.push(batchId);
    messages.push(...batchMessages(operator, receivedAt, batchId, operations.slice(at, at + perBatch).map(messageOf)));
  }
  // As one: all of them wait for approval, or none.
  if (messages.length > 0) await ports.publish(messages);
  return { batches, unlanded: await ports.untilLanded() };
}

export const messageOf = ({ operation, listId }: ListOperation): ListMessage => ({
  listId,
  encode: (context) => encodeOperation(operation, context),
});

/** At most BATCH_SIGNALS. `receivedAt` in ms. Returns the id. */
export async function publishBatch(
  { publish }: Pick<RulePorts, 'publish'>,
  operator: Operator,
  receivedAt: number,
  messages: readonly ListMessage[],
): Promise<string> {
  const batchId = newBatchId(receivedAt);
  await publish(batchMessages(operator, receivedAt, batchId, messages));
  return batchId;
}

export const batchMessages = (
  { workspaceId, organizationId, ...sender }: Operator,
  receivedAt: number,
  batchId: string,
  messages: readonly ListMessage[],
): Message[] =>
  messages.map(({ listId, encode }, i) =>
    encode({
      workspaceId,
      organizationId,
      listId: listId ?? undefined,
      receivedAt,
      signalId: signalId(batchId, i + 1),
      ...senderOf(sender),
    }),
  );

/** Operations of people over rules: put on the stream as batches, and waited for (SPEC D9). */
import { type Sender, senderOf } from '../account/caller.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Message } from '../ports/stream.ts';
import type { RuleOperation } from '../rule.ts';
import { encodeOperation } from '../signal/message/encode.ts';
import { BATCH_SIGNALS, newBatchId, signalId } from '../signal/message/signal-id.ts';

/** The way to rules: they are read from the store, and changed through the stream only. */
export interface RulePorts {
  readonly reads: StoreReads;
  /** Appends to the stream; resolves when the messages are durable. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Waits until what is on the stream has landed; how many messages are left when that takes too long. */
  untilLanded(): Promise<number>;
}

/** Who operates on the rules of which workspace. */
export interface Operator extends Sender {
  readonly workspaceId: string;
  readonly organizationId: string;
}

/** Waits for what was accepted before. Rejects with REFUSED where that takes too long: what has not landed would be left out unsaid (D34.3). */
export async function allLanded({ untilLanded }: Pick<RulePorts, 'untilLanded'>): Promise<void> {
  const left = await untilLanded();
  if (left > 0) throw new WeirError('REFUSED', `${left} messages that were accepted before have not landed: try again`);
}

/** An operation and the list whose rules it means; null where it means none. */
export interface ListOperation {
  readonly operation: RuleOperation;
  readonly listId: string | null;
}

/** What a message says, and of which list; null where it is of none. */
export interface ListMessage {
  readonly listId: string | null;
  readonly encode: (context: Parameters<typeof encodeOperation>[1]) => Message;
}

/** What was put on the stream. */
export interface Operated {
  /** The ids of the batches. */
  readonly batches: readonly string[];
  /** Messages that had not landed when nobody waited any longer. */
  readonly unlanded: number;
}

/** Puts operations on the stream, as many in a batch as `perBatch` and a batch allow, and waits until they have landed. */
export async function operate(
  ports: RulePorts,
  operator: Operator,
  operations: readonly ListOperation[],
  perBatch = BATCH_SIGNALS,
): Promise<Operated> {
  const receivedAt = await ports.reads.ping();
  const batches: string[] = [];
  for (let at = 0; at < operations.length; at += perBatch) {
    batches.push(await publishBatch(ports, operator, receivedAt, operations.slice(at, at + perBatch).map(messageOf)));
  }
  return { batches, unlanded: await ports.untilLanded() };
}

/** The message of an operation. */
export const messageOf = ({ operation, listId }: ListOperation): ListMessage => ({
  listId,
  encode: (context) => encodeOperation(operation, context),
});

/** Puts messages on the stream as one batch, BATCH_SIGNALS at most, as of an instant (ms), and returns its id. */
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

/** The messages of a batch. */
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

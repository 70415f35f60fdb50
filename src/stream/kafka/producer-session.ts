/** The producer's identity and its count of records, by which brokers append each request once and in turn. */

const LAST_EPOCH = 32_767;
const SEQUENCES = 2 ** 31;

/** Who appends: brokers refuse what comes out of turn, and everything of an epoch that is over. */
export interface ProducerIdentity {
  readonly id: bigint;
  readonly epoch: number;
}

/** A session without an identity yet; `newProducer` asks the brokers for one. */
export function producerSession(newProducer: () => Promise<ProducerIdentity>) {
  let producer: ProducerIdentity | undefined;
  let sequence = 0;
  return {
    /** The identity to send with; asks the brokers for one when there is none. */
    async identity(): Promise<ProducerIdentity> {
      producer ??= await newProducer();
      return producer;
    },
    /** The number of the next record in this epoch. */
    get sequence(): number {
      return sequence;
    },
    /** `count` more records are appended. */
    advance(count: number): void {
      sequence = (sequence + count) % SEQUENCES;
    },
    /** Begins a new epoch: requests of the old one that are still on their way are refused from then on. */
    endEpoch(): void {
      producer = producer === undefined || producer.epoch === LAST_EPOCH ? undefined : { id: producer.id, epoch: producer.epoch + 1 };
      sequence = 0;
    },
  };
}

/** With its identity and record count, brokers append each request once and in order. */

const LAST_EPOCH = 32_767;
const SEQUENCES = 2 ** 31;

/** Brokers refuse records out of order, and everything of an ended epoch. */
export interface ProducerIdentity {
  readonly id: bigint;
  readonly epoch: number;
}

/** `newProducer` requests an identity from the brokers. */
export function producerSession(newProducer: () => Promise<ProducerIdentity>) {
  let producer: ProducerIdentity | undefined;
  let sequence = 0;
  return {
    /** Requested if there is none. */
    async identity(): Promise<ProducerIdentity> {
      producer ??= await newProducer();
      return producer;
    },
    get sequence(): number {
      return sequence;
    },
    advance(count: number): void {
      sequence = (sequence + count) % SEQUENCES;
    },
    /** Brokers refuse requests of the old one from then on. */
    endEpoch(): void {
      producer = producer === undefined || producer.epoch === LAST_EPOCH ? undefined : { id: producer.id, epoch: producer.epoch + 1 };
      sequence = 0;
    },
  };
}

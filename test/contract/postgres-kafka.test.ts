import { kafkaForTests, noKafka } from '../support/kafka.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { expressionContract } from './expressions.ts';
import { feedContract } from './feeds.ts';
import { type Engine, signalContract } from './signals.ts';

const NAME = 'PostgreSQL and Kafka';
const skip = noPostgres() || noKafka();

async function open(): Promise<Engine> {
  const [postgres, kafka] = await Promise.all([startPostgres(), kafkaForTests()]);
  const database = await postgres.createDatabase();
  return {
    settings: { DATABASE_URL: database, KAFKA_BROKERS: kafka.brokers.join(','), KAFKA_TOPIC: `signals-${process.pid}` },
    stop: async () => {
      await Promise.all([postgres.stop(), kafka.stop()]);
    },
  };
}

signalContract(NAME, open, skip);
expressionContract(NAME, open, skip);
feedContract(NAME, open, skip);

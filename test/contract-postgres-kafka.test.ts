import { expressionContract } from './contract/expressions.ts';
import { feedContract } from './contract/feeds.ts';
import { type Engine, signalContract } from './contract/signals.ts';
import { kafkaForTests, noKafka } from './support/kafka.ts';
import { noPostgres, startPostgres } from './support/postgres.ts';

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

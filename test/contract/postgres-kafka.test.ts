import { postgresAndKafka } from './engine.ts';
import { expressionContract } from './expressions.ts';
import { feedContract } from './feeds.ts';
import { limitContract } from './limits.ts';
import { signalContract } from './signals.ts';

const engine = postgresAndKafka();
signalContract(engine);
expressionContract(engine);
feedContract(engine);
limitContract(engine);

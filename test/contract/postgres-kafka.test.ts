import { suite } from 'node:test';
import { postgresAndKafka } from './engine.ts';
import { feedContract } from './feeds.ts';
import { limitContract } from './limits.ts';
import { operatorContract } from './operators.ts';
import { replaceContract } from './replace.ts';
import { signalContract } from './signals.ts';

const engine = postgresAndKafka();
// Much of their time is waiting.
suite('contract', { concurrency: 2 }, () => {
  for (const contract of [feedContract, signalContract, limitContract, operatorContract, replaceContract]) contract(engine);
});

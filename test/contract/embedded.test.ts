import { suite } from 'node:test';
import { EMBEDDED } from './engine.ts';
import { limitContract } from './limits.ts';
import { operatorContract } from './operators.ts';
import { replaceContract } from './replace.ts';
import { signalContract } from './signals.ts';

// Much of their time is waiting.
suite('contract', { concurrency: 2 }, () => {
  for (const contract of [signalContract, limitContract, operatorContract, replaceContract]) contract(EMBEDDED);
});

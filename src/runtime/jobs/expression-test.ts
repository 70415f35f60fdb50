/** Tests expressions within limits of time and memory (SPEC D19.15). */
import { WeirError } from '../../errors.ts';
import type { ExpressionTester } from '../../manage/expressions/expression-test.ts';
import { oneByOne } from '../../serial.ts';
import { inBounds, onDemand } from './job.ts';

/** Timeout including the thread's start, ms. */
const LIMIT = 5000;
/** ms */
const IDLE = 60_000;

/** `schemesFile`: SCHEMES_FILE. One thread runs all tests in sequence: their authors determine the time. */
export function expressionTester(schemesFile: string | undefined): ExpressionTester {
  const inTurn = oneByOne();
  const { use, kill } = onDemand('expressionTest', () => [{ schemesFile }], IDLE);
  return (input) =>
    inTurn(() =>
      use(({ test }) => inBounds(test(input), LIMIT, tooMuch)).catch(async (error) => {
        await kill();
        throw error;
      }),
    );
}

const tooMuch = () => new WeirError('REFUSED', 'the expression takes too long or too much memory on this request');

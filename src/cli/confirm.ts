/** How a command asks before it does what cannot be taken back at once (SPEC D9.8). */
import { createInterface } from 'node:readline/promises';
import { WeirError } from '../errors.ts';
import type { Context } from './context.ts';

/** Asks the person; `--yes` has answered already. Throws USAGE where nobody can answer, and where the answer is not yes. */
export async function confirm({ stderr }: Context, question: string, isConfirmed: boolean | undefined): Promise<void> {
  if (isConfirmed) return;
  if (!process.stdin.isTTY) throw new WeirError('USAGE', `${question}\nnothing has changed; add --yes to do it`);
  const terminal = createInterface({ input: process.stdin, output: stderr });
  try {
    if (!/^y(es)?$/i.test((await terminal.question(`${question}\ndo it? [y/N] `)).trim()))
      throw new WeirError('USAGE', 'nothing has changed');
  } finally {
    terminal.close();
  }
}

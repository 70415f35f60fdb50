import { createInterface } from 'node:readline/promises';
import { WeirError } from '../errors.ts';
import type { Context } from './context.ts';

/** Asks before changes (SPEC D9.8). Throws USAGE without a terminal, and unless the answer is yes. */
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

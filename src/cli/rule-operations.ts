/** How commands operate over rules: on the stream beside a server, and after asking (SPEC D9.8). */
import { createInterface } from 'node:readline/promises';
import type { Workspace } from '../account/workspace.ts';
import { WeirError } from '../errors.ts';
import type { Operator, RulePorts } from '../manage/operate.ts';
import type { Context } from './context.ts';
import { untilLanded } from './landed.ts';
import { publish } from './publish.ts';

/** The rules of this command line's engines; `advice` is what to do when the stream takes nothing. */
export async function rulePorts(context: Context, advice: string): Promise<RulePorts> {
  const reads = await context.reads();
  const stream = await context.stream();
  return {
    reads,
    publish: (messages) => publish(context, stream, messages, advice),
    untilLanded: () => untilLanded(context, stream, reads),
  };
}

/** A command as operator: it has no key. */
export const asOperator = ({ id, organizationId }: Workspace): Operator => ({ workspaceId: id, organizationId });

/** What is said of messages that wait. */
export const waiting = ({ unlanded }: { readonly unlanded: number }): string =>
  unlanded === 0 ? '' : `\n${unlanded} messages wait on the stream: they land when weir runs with the role consumer`;

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

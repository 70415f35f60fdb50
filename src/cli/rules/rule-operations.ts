/** How commands operate over rules: on the stream beside a server. */

import { senderOf } from '../../account/caller.ts';
import type { Workspace } from '../../account/workspace.ts';
import { WeirError } from '../../errors.ts';
import type { Operated, Operator, RulePorts } from '../../manage/operate.ts';
import { deletable } from '../../manage/sources/managed-lists.ts';
import { plural } from '../../text/count.ts';
import { type Context, workspaceIn } from '../context.ts';
import { untilLanded } from '../landed.ts';
import { publish } from '../publish.ts';

import { type ConditionOptions, isNarrowed, matchingRules, readConditions } from './conditions.ts';

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

/** The rules that the options of a command mean, as soon as what was sent has landed, with what it works with. Rejects where they leave none out. */
export async function chosenRules(context: Context, options: ConditionOptions & { readonly workspace?: string }) {
  if (!isNarrowed(options))
    throw new WeirError('USAGE', 'say which rules: give --list, --address, --label, --reason, --since, --key, --person or --batch');
  const ports = await rulePorts(context, 'nothing has changed');
  await ports.untilLanded();
  const { reads } = ports;
  const workspace = await workspaceIn(context, reads, options.workspace);
  const conditions = await readConditions(reads, workspace.id, options);
  const found = await Array.fromAsync(matchingRules(reads, workspace.id, conditions));
  return { ports, workspace, ...(await deletable(reads, workspace.id, found, options.list !== undefined)) };
}

/** Writes into the audit log what a command did to rules, a row for each of its batches; to be opened before anything is on the stream. */
export type Note = (event: string, batches: readonly (string | null)[], asked: Readonly<Record<string, unknown>>) => Promise<void>;

/** Opens the store for `Note` (SPEC D15.54). Rejects where it cannot be written to: then nothing has changed. */
export async function noting(context: Context, { id }: Workspace): Promise<Note> {
  const store = await context.store();
  return async (event, batches, asked) => {
    const done = batches.filter((batch) => batch !== null);
    // Several batches are one act.
    const author = done.length > 1 ? { ...context.author, act: done[0] } : context.author;
    for (const batch of done) await store.noteChange(id, event, batch, asked, author);
  };
}

/** A command as operator (SPEC D45.1): it has no key. */
export const asOperator = ({ author }: Context, { id, organizationId }: Workspace): Operator => ({
  workspaceId: id,
  organizationId,
  ...senderOf({ actor: author.actor ?? undefined }),
});

/** What a command did, as JSON. */
export const operatedJson = ({ batches, unlanded }: Operated) => ({ batch_id: batches[0], unlanded });

/** What is said of messages that wait. */
export const waiting = ({ unlanded }: { readonly unlanded: number }): string =>
  unlanded === 0
    ? ''
    : `\n${plural(unlanded, 'message')} on the stream ${unlanded === 1 ? 'waits: it lands' : 'wait: they land'} when weir runs with the role consumer`;

/** How commands operate over rules: on the stream beside a server. */
import type { Workspace } from '../../account/workspace.ts';
import type { Operator, RulePorts } from '../../manage/operate.ts';
import type { Context } from '../context.ts';
import { untilLanded } from '../landed.ts';
import { publish } from '../publish.ts';

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

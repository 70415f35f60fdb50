import { WeirError } from '../../errors.ts';
import { type AnyRow, type Call, row } from '../rows/row.ts';

interface Approval {
  readonly id: string;
  readonly state: string;
  readonly why: string;
  readonly actor: string | null;
  readonly key_name: string | null;
  readonly person: string | null;
  readonly approvers: readonly string[];
  readonly expires_at: string;
  readonly reason: string | null;
}

const by = ({ person, key_name: key, actor }: Approval) => person ?? key ?? actor ?? 'a command';
const decided = ({ id, state }: Approval) => `change ${id} is ${state}`;

/** Rejects with REFUSED if the change cannot be applied. */
async function forced({ client, given }: Call): Promise<Approval> {
  const change = await client.call<Approval>('forceChange', given);
  if (change.state === 'failed') throw new WeirError('REFUSED', `change ${change.id} has failed: ${change.reason}`);
  return change;
}

export const APPROVAL_ROWS: readonly AnyRow[] = [
  row<Approval[]>({
    words: 'approval ls',
    operation: 'listApprovals',
    summary: 'list changes that wait, or waited, for the approval of another person',
    columns: { ID: 'id', STATE: 'state', CHANGE: 'why', BY: by, APPROVALS: (each) => each.approvers.length, EXPIRES: 'expires_at' },
  }),
  row<Approval & { readonly content: readonly string[] }>({
    words: 'approval show <approval>',
    operation: 'getApproval',
    summary: 'show a change that waits for approval, with its first messages',
    show: (each) => [`${each.state}: ${each.why}, by ${by(each)}, expires ${each.expires_at}`, ...each.content].join('\n'),
  }),
  row<Approval>({
    words: 'approval withdraw <approval>',
    operation: 'withdrawChange',
    summary: 'withdraw a change that waits for approval',
    show: decided,
  }),
  row<Approval>({
    words: 'approval force <approval>',
    operation: 'forceChange',
    summary: 'apply a change in an emergency, with a reason and without a second person',
    run: forced,
    show: decided,
  }),
];

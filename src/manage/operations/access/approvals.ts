/** SPEC D67. */
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { answerOf, type Fields, listOf, nullable, Type, textField } from '../../../json/schema.ts';
import { APPROVAL_STATES, type Approval, type Decision } from '../../../ports/stored/approval-store.ts';
import type { Message } from '../../../ports/stream.ts';
import { plural } from '../../../text/count.ts';
import { applyApproved, messagesIn, type RunApproved, requireSame } from '../../approvals/approve.ts';
import { opened } from '../../approvals/content.ts';
import { type Excess, sizeOfMessages } from '../../approvals/size.ts';
import type { ManageContext } from '../../context.ts';
import { findList } from '../../find.ts';
import { type Operation, operation } from '../../operation.ts';
import { keyNames } from '../../rules/rule-json.ts';

const ID = '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7001';
const optional = nullable(Type.String());
const HASH = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';

const APPROVAL = {
  id: ID,
  state: ['pending', Type.Enum([...APPROVAL_STATES])],
  why: ['131,072 addresses, more than 65,536', 'The limit that the change exceeds.'],
  addresses: 131_072,
  rules: 1,
  hash: [HASH, 'SHA-256 of the exact content.'],
  actor: ['Jana Novák', optional],
  person: [null, nullable(Type.String(), { description: 'The person who requested it: another one has to approve it.' })],
  key_id: ['0195a3c0-0000-7000-8000-000000000002', optional],
  key_name: ['console', optional],
  approvers: [[], Type.Array(Type.String(), { description: 'People who have approved it. A request of a key or command needs two.' })],
  reason: [null, nullable(Type.String(), { description: 'Of the decision.' })],
  requested_at: '2026-11-20T10:00:00.000Z',
  expires_at: '2026-11-23T10:00:00.000Z',
} as const satisfies Fields;

async function jsonOf({ store, workspaceId }: ManageContext, approvals: readonly Approval[]) {
  const keys = await keyNames(store, workspaceId);
  const now = await store.ping();
  return approvals.map(({ id, state, why, addresses, rules, hash, by, approvers, reason, createdAt, expiresAt }) => ({
    id,
    state: state === 'pending' && expiresAt <= now ? 'expired' : state,
    why,
    addresses,
    rules,
    hash,
    actor: by.actor,
    person: by.personId ?? null,
    key_id: by.keyId,
    key_name: keys.get(by.keyId ?? '') ?? null,
    approvers,
    reason,
    requested_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
  }));
}

const MOST_SHOWN = 100;

/** Files may have secrets: only their hash is shown. */
function shown({ operation: name }: Approval, content: Message[] & Readonly<Record<'params' | 'query' | 'body', object>>): string[] {
  if (name === 'messages') return content.slice(0, MOST_SHOWN).map(({ value }) => value);
  const { params, query, body } = content;
  return [`${name} ${JSON.stringify(name === 'applyWorkspaceFile' ? { query } : { ...params, ...query, ...body })}`];
}
const UNKNOWN = `there is no approval request "${ID}"`;
const Reason = textField(200, 'Recorded in the audit log.', { format: 'text' });
const DECIDED = answerOf('ApprovalDecision', {
  ...APPROVAL,
  batches: [[], Type.Array(Type.String(), { description: 'Batches of the applied change.' })],
});

async function decide(context: ManageContext, id: string, decision: Decision, reason: string | null, hash?: string) {
  const { store, workspaceId, by } = context;
  const found = await store.approval(workspaceId, id);
  if (found !== undefined && hash !== undefined) requireSame(found, hash);
  if (found !== undefined && decision === 'force' && by.personId == null && by.keyId !== null)
    throw new WeirError('FORBIDDEN', 'only signed-in administrators and commands on the host apply changes in an emergency');
  if (found?.state === 'pending' && APPLYING.includes(decision)) await askAgain(context, found, decision);
  const decided = await store.decideApproval(workspaceId, id, decision, reason, by);
  const run: RunApproved = (_, { operation: name }, content) => context.approved.run(name, context, id, content);
  const batches = decided.state === 'approved' ? await applyApproved(context, run, workspaceId, decided, true) : [];
  if (batches.length > 0) await context.untilLanded();
  const [json] = await jsonOf(context, [(await store.approval(workspaceId, id))!]);
  return { ...json, batches };
}

const APPLYING: readonly Decision[] = ['approve', 'force'];

/** Rules older than a day count: a list in use always grows a little. */
const GROWN = 1.1;

/** Rejects with REFUSED if the effect has grown (its approvals are void), with REFUSED or NOT_FOUND if it names other objects now. */
async function askAgain(context: ManageContext, found: Approval, decision: Decision): Promise<void> {
  const { store, workspaceId, approved } = context;
  const { id, operation: name, addresses, rules } = found;
  const content = await store.approvalContent(workspaceId, id);
  if (content === undefined) return;
  const now = await (name === 'messages' ? messagesNow(context, found, content) : approved.excess(name, context, content));
  if (decision === 'force' || now === undefined || (now.addresses <= addresses * GROWN && now.rules <= rules * GROWN)) return;
  await store.askAgain(workspaceId, id, now);
  throw new WeirError('REFUSED', `the effect has grown since, to ${now.why}: read the change again and approve it`);
}

/** Messages of a deleted list would land in the default list. */
async function messagesNow({ store, workspaceId, now }: ManageContext, { why }: Approval, content: Uint8Array): Promise<Excess> {
  const messages = await messagesIn(content);
  for (const list of new Set(messages.map(({ headers }) => headers.list_id)))
    if (list !== undefined) await findList(store, workspaceId, list);
  const size = await sizeOfMessages(store, workspaceId, messages, now());
  return { ...size, why: `${size.addresses.toLocaleString('en')} addresses in ${plural(size.rules, 'rule')} (before: ${why})` };
}

const deciding = (name: string, verb: string, decision: Decision, summary: string, description: string) =>
  operation(name, `POST /approvals/{approval}/${verb}`, 'rules:write', {
    summary,
    description,
    body: Type.Object({ reason: Reason }),
    answer: DECIDED,
    refusals: { 404: UNKNOWN, 409: 'the change is rejected: it does not wait for approval' },
    examples: [{ reason: 'not intended' }],
    run: (context, { params, body }) => decide(context, params.approval!, decision, body.reason ?? null),
  });

export const APPROVAL_OPERATIONS: readonly Operation[] = [
  operation('listApprovals', 'GET /approvals', 'rules:read', {
    summary: 'List changes that wait, or waited, for approval, newest first',
    answer: answerOf('Approvals', { approvals: listOf(APPROVAL) }),
    run: async (context) => ({ approvals: await jsonOf(context, await context.store.approvals(context.workspaceId)) }),
  }),
  operation('getApproval', 'GET /approvals/{approval}', 'rules:read', {
    summary: `Get a request with the first ${MOST_SHOWN} messages of its content`,
    answer: answerOf('Approval', {
      ...APPROVAL,
      content: [['{"type":"access_rules","action":"block","ip":"8.0.0.0/15"}'], Type.Array(Type.String())],
    }),
    refusals: { 404: UNKNOWN },
    async run(context, { params }) {
      const { store, workspaceId } = context;
      const found = await store.approval(workspaceId, params.approval!);
      if (found === undefined) throw new WeirError('NOT_FOUND', `there is no approval request "${params.approval}"`);
      const content = await store.approvalContent(workspaceId, found.id);
      const [json] = await jsonOf(context, [found]);
      return { ...json, content: content === undefined ? [] : shown(found, JSON.parse(await opened(context, content))) };
    },
  }),
  operation('approveChange', 'POST /approvals/{approval}/approve', 'rules:write', {
    summary: 'Approve a change as a signed-in person',
    description:
      'Two different people stand behind each change: the person who requested it counts as one. Keys and commands cannot approve (403). The last approval applies the change; expiries count from then.',
    body: Type.Object({ hash: Type.String({ maxLength: 64, description: 'Of the content that you have read.' }), reason: Reason }),
    answer: DECIDED,
    refusals: { 404: UNKNOWN, 409: 'the change is applied: it does not wait for approval' },
    examples: [{ hash: HASH }],
    run: (context, { params, body }) => decide(context, params.approval!, 'approve', body.reason ?? null, body.hash),
  }),
  deciding('rejectChange', 'reject', 'reject', 'Reject a change', 'Anybody with the permission may: rejecting changes nothing.'),
  deciding('withdrawChange', 'withdraw', 'withdraw', 'Withdraw a change', 'As a rejection, for requesters.'),
  operation('forceChange', 'POST /approvals/{approval}/force', 'manage', {
    summary: 'Apply a change in an emergency, without a second person',
    description: 'For signed-in administrators and commands on the host. The reason is in the audit log.',
    role: 'admin',
    body: Type.Object({ reason: Type.String({ format: 'text', minLength: 1, maxLength: 200 }) }),
    answer: DECIDED,
    refusals: { 404: UNKNOWN, 409: 'the change is applied: it does not wait for approval' },
    examples: [{ reason: 'attack in progress, ticket 4711' }],
    run: (context, { params, body }) => decide(context, params.approval!, 'force', body.reason),
  }),
];

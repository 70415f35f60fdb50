/** Foreign messages in the stream over the limit of approvals (SPEC D67.9). */
import { v7 } from 'uuid';
import type { HoldForeign, LandingItem, WaitingItems } from '../../ports/landing.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Message } from '../../ports/stream.ts';
import { isOperation } from '../../rule.ts';
import { pack } from '../imports/pack.ts';
import { APPROVAL_LIFETIME, approvalGate, type GateParts, hashOf } from './gate.ts';

/** As weir would have written it: approved messages do not wait again. */
const messageOf = ({ workspaceId, receivedAt, record: { headers, value } }: LandingItem, organizationId: string): Message => {
  // Its person is a claim: nobody has signed in.
  const { person: _, ...rest } = headers;
  const own = { workspace_id: workspaceId, organization_id: organizationId, received_at: new Date(receivedAt).toISOString() };
  return { key: workspaceId, headers: { ...rest, ...own }, value };
};

/** Of one process. */
export function foreignHold(parts: GateParts & { readonly store: Pick<StoreReads, 'approvingWorkspaces'> }): HoldForeign {
  const gate = approvalGate(parts);
  return async (items) => {
    const waiting: WaitingItems[] = [];
    const foreign = Map.groupBy(
      items.filter(({ isForeign }) => isForeign),
      (item) => item.workspaceId,
    );
    for (const workspaceId of await parts.store.approvingWorkspaces([...foreign.keys()])) {
      const [workspace, own] = [await parts.store.workspace(workspaceId), foreign.get(workspaceId)!];
      if (workspace === undefined) continue;
      // An operation is not a signal, regardless of its producer.
      for (const [isSignal, some] of Map.groupBy(own, ({ change }) => !isOperation(change))) {
        const of = new Map(some.map((item) => [messageOf(item, workspace.organizationId), item]));
        for (const { messages, size, why } of await gate.sort(workspace, [...of.keys()], isSignal)) {
          const [{ keyId, actor = null }] = messages.map((message) => of.get(message)!) as [LandingItem];
          const { addresses, blocked, rules } = size;
          const content = await pack(JSON.stringify(messages));
          const about = { id: v7(), operation: 'messages', why, hash: hashOf(messages), by: { keyId, actor } };
          waiting.push({
            ...{ workspaceId, lifetime: APPROVAL_LIFETIME, records: messages.map((message) => of.get(message)!.record) },
            request: { ...about, content, addresses, blocked, rules },
          });
        }
      }
    }
    return waiting;
  };
}

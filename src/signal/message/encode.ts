import type { Sender } from '../../account/caller.ts';
import type { Message } from '../../ports/stream.ts';
import type { RuleOperation } from '../../rule.ts';
import type { Signal } from '../schema.ts';

/** Where an accepted signal comes from and goes to; the headers of its message (spec 6). */
interface SignalContext extends Sender {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Left out when it is not known: the workspace's default list. */
  readonly listId: string | undefined;
  /** When the signal was accepted, ms since 1970: expiry counts from here. */
  readonly receivedAt: number;
  /** A UUIDv7 (signal-id.ts). */
  readonly signalId: string;
  /** The source whose refresh it is: it lands in the list of that source, or nowhere. */
  readonly sourceId?: string | undefined;
  /** The step of a trace that it was sent in (SPEC D16.4). */
  readonly traceparent?: string | undefined;
}

/** Writes the messages of a batch, which differ in their value and in one header. */
export function messageEncoder(version: 1 | 2, of: Omit<SignalContext, 'signalId'>): (value: object, signalId: string) => Message {
  const headers = {
    ...(version === 2 && { schema_version: '2' }),
    workspace_id: of.workspaceId,
    ...(of.listId !== undefined && { list_id: of.listId }),
    organization_id: of.organizationId,
    received_at: new Date(of.receivedAt).toISOString(),
    signal_id: '',
    ...(of.keyId !== undefined && { key_id: of.keyId }),
    ...(of.actor !== undefined && { actor: of.actor }),
    ...(of.personId !== undefined && { person: of.personId }),
    ...(of.sourceId !== undefined && { source_id: of.sourceId }),
    ...(of.traceparent !== undefined && { traceparent: of.traceparent }),
  };
  return (value, signalId) => ({ key: of.workspaceId, headers: { ...headers, signal_id: signalId }, value: JSON.stringify(value) });
}

/** What the message of an accepted signal holds. A v1 message has no `schema_version`, as it always was (spec 9). */
export const wireValue = (signal: Signal): object => (signal.version === 1 ? signal.event : signal.envelope);

/** What of it decides what feeds hold: neither texts nor labels. */
export function feedValue(signal: Signal): object {
  if (signal.version === 1) return { ...signal.event, description: undefined, name: undefined };
  const { rule, ...envelope } = signal.envelope;
  const { confidence, severity } = (rule as { config?: { confidence?: unknown; severity?: unknown } } | undefined)?.config ?? {};
  return { ...envelope, reason: undefined, labels: undefined, ...(rule && { rule: { ...rule, config: { confidence, severity } } }) };
}

/** The message of one accepted signal. */
export const encodeMessage = (signal: Signal, context: SignalContext): Message =>
  messageEncoder(signal.version, context)(wireValue(signal), context.signalId);

/** The message of an operation, which no signal can ask for. */
export function encodeOperation(operation: RuleOperation, context: SignalContext): Message {
  return messageEncoder(2, context)({ schema_version: 2, ...operationValue(operation) }, context.signalId);
}

function operationValue(operation: RuleOperation): object {
  if (operation.change === 'undo') return { kind: 'batch', op: 'undo', batch_id: operation.batchId };
  const { change: op, kind, ids } = operation;
  return { kind, op, rule_ids: ids, ...(op === 'set_rules' && { expires_at: operation.expiresAt, reason: operation.reason }) };
}

/** Rules that one operation deletes or sets at most. */
export const OPERATION_RULES = 1000;

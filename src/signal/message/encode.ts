import type { Sender } from '../../account/caller.ts';
import type { Message } from '../../ports/stream.ts';
import type { RuleOperation } from '../../rule.ts';
import type { Signal } from '../schema.ts';

/** Origin and destination of a signal: the headers of its message (spec 6). */
interface SignalContext extends Sender {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Omitted if unknown: the workspace's default list. */
  readonly listId: string | undefined;
  /** Time of acceptance, ms since 1970: base of the expiry. */
  readonly receivedAt: number;
  readonly signalId: string;
  /** The refreshing source: lands only in its list. */
  readonly sourceId?: string | undefined;
  /** W3C trace context (SPEC D16.4). */
  readonly traceparent?: string | undefined;
}

/** Encodes a batch's messages, sharing all headers except the signal id and `ends`. */
export function messageEncoder(
  version: 1 | 2,
  of: Omit<SignalContext, 'signalId'>,
): (value: object, signalId: string, hasEnd?: boolean) => Message {
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
    ...(of.isManaged && { via: 'management' }),
    ...(of.sourceId !== undefined && { source_id: of.sourceId }),
    ...(of.traceparent !== undefined && { traceparent: of.traceparent }),
  };
  return (value, signalId, hasEnd) => ({
    key: of.workspaceId,
    headers: { ...headers, signal_id: signalId, ...(hasEnd && { ends: 'fixed' }) },
    value: JSON.stringify(value),
  });
}

/** v1 messages have no `schema_version` (spec 9). */
export const wireValue = (signal: Signal): object => (signal.version === 1 ? signal.event : signal.envelope);

export function feedValue(signal: Signal): object {
  if (signal.version === 1) return { ...signal.event, description: undefined, name: undefined };
  const { rule, ...envelope } = signal.envelope;
  const { confidence, severity } = (rule as { config?: { confidence?: unknown; severity?: unknown } } | undefined)?.config ?? {};
  return { ...envelope, reason: undefined, labels: undefined, ...(rule && { rule: { ...rule, config: { confidence, severity } } }) };
}

export const encodeMessage = (signal: Signal, context: SignalContext): Message =>
  messageEncoder(signal.version, context)(wireValue(signal), context.signalId, signal.hasEnd);

/** Operations cannot be sent as signals. */
export function encodeOperation(operation: RuleOperation, context: SignalContext): Message {
  return messageEncoder(2, context)({ schema_version: 2, ...operationValue(operation) }, context.signalId);
}

function operationValue(operation: RuleOperation): object {
  if (operation.change === 'undo') return { kind: 'batch', op: 'undo', batch_id: operation.batchId };
  const { change: op, kind, ids } = operation;
  return { kind, op, rule_ids: ids, ...(op === 'set_rules' && { expires_at: operation.expiresAt, reason: operation.reason }) };
}

/** Maximum rules deleted or set by an operation. */
export const OPERATION_RULES = 1000;

/** The message accepted later, at `receivedAt` (ms): expiries count from then, except one given as an instant (SPEC D67.4). */
export function acceptedAgain(message: Message, receivedAt: number, id: string): Message {
  const { headers, value } = message;
  const later = { ...message, headers: { ...headers, received_at: new Date(receivedAt).toISOString(), signal_id: id } };
  if (headers.ends !== 'fixed') return later;
  const entry = JSON.parse(value) as Record<string, unknown>;
  const field = headers.schema_version === '2' ? 'expires_in' : 'expiration';
  const passed = Math.ceil(receivedAt / 1000) - Math.ceil(Date.parse(headers.received_at!) / 1000);
  return typeof entry[field] === 'number'
    ? { ...later, value: JSON.stringify({ ...entry, [field]: Math.max(1, entry[field] - passed) }) }
    : later;
}

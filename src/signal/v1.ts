import { parseTarget, type TargetCheck } from './check.ts';
import { misplacedInEvent } from './misplaced.ts';
import { EVENT_FIELDS, type Fields, isPickedEvent, normalizeEvent } from './normalize.ts';
import { type Signal, V1Event } from './schema.ts';
import { compile, type FieldFault } from './validate.ts';

export const eventFaults = compile(V1Event);
const REFUSING = (['type', 'action'] as const).map((field) => ({ field, allowed: V1Event.properties[field].enum as readonly unknown[] }));

/** Faults refusing the whole batch: `type` and `action` (spec 7.2). */
export const eventRefusals = (entry: Fields): FieldFault[] =>
  REFUSING.filter(({ field, allowed }) => !allowed.includes(entry[field])).map(({ field, allowed }) => ({
    field,
    message: `must be one of: ${allowed.join(', ')}`,
  }));

/** Parses a v1 event (spec 2.1), or returns its faults. `warnings` receives probable mistakes (SPEC D42.4). */
export function parseEvent(entry: Fields, check: TargetCheck, warnings: string[]): Signal | FieldFault[] {
  const event = normalizeEvent(entry);
  const faults = [...eventFaults(event)];
  parseTarget(event, { path: '', blocks: event.action === 'block' }, check, faults, warnings);
  if (faults.length > 0) return faults;
  warnings.push(...misplacedInEvent(entry));
  return { version: 1, event: asSent(entry) };
}

/** Known fields unchanged: the v1 message format is frozen. */
function asSent(entry: Fields): V1Event {
  if (isPickedEvent(entry)) return entry as V1Event;
  const sent: Fields = {};
  for (const field of EVENT_FIELDS) {
    const value = entry[field];
    if (value !== undefined && (typeof value !== 'object' || value === null)) sent[field] = value;
  }
  return sent as V1Event;
}

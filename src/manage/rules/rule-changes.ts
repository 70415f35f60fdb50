/** Changes of rules that somebody manages: through the stream, and answered when they have landed (SPEC D15.33). */

import { senderOf } from '../../account/caller.ts';
import { type Fields, Type } from '../../json/schema.ts';
import type { ManageContext } from '../context.ts';
import type { Operator, RulePorts } from '../operate.ts';
import type { Outcome } from '../outcome.ts';

/** What every change of rules answers besides its own. */
export interface Change {
  /** The batches that it is. */
  readonly batches: readonly string[];
  /** Whether all of it is in the rules; false: it is kept, and will be. */
  readonly landed: boolean;
  /** Messages that had not landed when the answer was sent. */
  readonly unlanded: number;
}

/** The fields of `Change` in answers, with a batch for the example. */
export const changeFields = (batch: string) =>
  ({
    batches: [[batch], Type.Array(Type.String(), { description: 'The batches that the change is. None: nothing was changed.' })],
    landed: [true, 'false (202): it is kept durably, and lands later; the batch tells when.'],
    unlanded: [0, 'Messages that have not landed.'],
  }) as const satisfies Fields;

/** The query parameter and body field that asks what would be done. */
export const PREVIEW = Type.Optional(Type.Boolean({ description: 'true: tells what would be done, and changes nothing.' }));

/** The rules as operations reach them. */
export const portsOf = ({ store, publish, untilLanded }: ManageContext): RulePorts => ({ reads: store, publish, untilLanded });

/** The caller as operator. */
export const operatorOf = ({ caller }: ManageContext): Operator => ({
  workspaceId: caller.workspaceId,
  organizationId: caller.organizationId,
  ...senderOf(caller),
});

/** Notes a change in the audit log, and waits until its batches have landed, unless it is known how many messages are left. */
export async function landed(
  { store, workspaceId, by, untilLanded }: ManageContext,
  event: string,
  batches: readonly string[],
  asked: Readonly<Record<string, unknown>>,
  unlanded?: number,
): Promise<Change> {
  if (batches.length === 0) return { batches, ...ALL_LANDED };
  // Several batches are one act.
  const author = batches.length === 1 ? by : { ...by, act: batches[0] };
  const notes = Promise.all(batches.map((batch) => store.noteChange(workspaceId, event, batch, asked, author)));
  const [left] = await Promise.all([unlanded ?? untilLanded(), notes]);
  return { batches, landed: left === 0, unlanded: left };
}

/** The end of a change of which nothing waits. */
export const ALL_LANDED = { landed: true, unlanded: 0 } as const;

/** The answer to a change: 202, with the address of its batch, where it has not landed yet. */
export function changeOutcome(value: Change & object): Outcome {
  const [first] = value.batches;
  return { body: value, ...(!value.landed && first !== undefined && { status: 202, location: `/batches/${first}` }) };
}

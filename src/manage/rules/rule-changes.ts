/** SPEC D15.33. */

import { senderOf } from '../../account/caller.ts';
import { type Fields, Type } from '../../json/schema.ts';
import type { ManageContext } from '../context.ts';
import type { Operator, RulePorts } from '../operate.ts';
import type { Outcome } from '../outcome.ts';

export interface Change {
  readonly batches: readonly string[];
  /** false: stored, will land. */
  readonly landed: boolean;
  /** Messages that had not landed when the answer was sent. */
  readonly unlanded: number;
}

export const changeFields = (batch: string) =>
  ({
    batches: [[batch], Type.Array(Type.String(), { description: 'The batches of the change. Empty: nothing changed.' })],
    landed: [true, 'false (202): stored durably, but not applied yet; poll the batch.'],
    unlanded: [0, 'Messages that have not landed.'],
  }) as const satisfies Fields;

export const PREVIEW = Type.Optional(Type.Boolean({ description: 'true: preview only.' }));

export const portsOf = ({ store, publish, gate, untilLanded }: ManageContext): RulePorts => ({
  reads: store,
  async publish(messages) {
    await gate.check([messages]);
    await publish(messages);
  },
  untilLanded,
});

export const operatorOf = ({ caller }: ManageContext): Operator => ({
  workspaceId: caller.workspaceId,
  organizationId: caller.organizationId,
  ...senderOf(caller),
});

/** Writes the audit log; waits unless `unlanded` is known. */
export async function landed(
  { store, workspaceId, by, untilLanded }: ManageContext,
  event: string,
  batches: readonly string[],
  asked: Readonly<Record<string, unknown>>,
  unlanded?: number,
): Promise<Change> {
  if (batches.length === 0) return { batches, ...ALL_LANDED };
  // Several batches form one act.
  const author = batches.length === 1 ? by : { ...by, act: batches[0] };
  const notes = Promise.all(batches.map((batch) => store.noteChange(workspaceId, event, batch, asked, author)));
  const [left] = await Promise.all([unlanded ?? untilLanded(), notes]);
  return { batches, landed: left === 0, unlanded: left };
}

export const ALL_LANDED = { landed: true, unlanded: 0 } as const;

/** 202 if it has not landed. */
export function changeOutcome(value: Change & object): Outcome {
  const [first] = value.batches;
  return { body: value, ...(!value.landed && first !== undefined && { status: 202, location: `/batches/${first}` }) };
}

/** Answers that took longer than a client waits (SPEC D15.55). */

import { WeirError } from '../../errors.ts';
import { answerOf } from '../../json/schema.ts';
import { inWords } from '../../text/duration.ts';
import { LATE_KEPT } from '../async-operations.ts';
import { type Operation, operation } from '../operation.ts';

const ID = '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7002';

/** What is answered while an answer is late. */
export const LATE = answerOf('LateAnswer', {
  answer: [ID, 'What the answer is asked for by.'],
  landed: [false, 'Always false: nobody knows yet what of it is done.'],
});

const none = (id: string) =>
  `this process knows no late answer "${id}" of this key: it was asked of another process, is older than ${inWords(LATE_KEPT)}, or was forgotten at a restart. What was sent stands in GET /v1/manage/batches`;

export const ANSWER_OPERATIONS: readonly Operation[] = [
  operation('getAnswer', 'GET /answers/{answer}', null, {
    summary: 'The answer to a request that took longer than a client waits',
    description: `Status and body are those of the answer once it is there, errors included, for ${inWords(LATE_KEPT)} and to the key that asked; 202 until then. It is known to the process that was asked.`,
    answer: LATE,
    refusals: { 404: none(ID) },
    async run({ late, caller }, { params }) {
      const id = params.answer!.toLowerCase();
      const found = late.find(caller, id);
      if (found === undefined) throw new WeirError('NOT_FOUND', none(id));
      return found;
    },
    show: (found) => found,
  }),
];

/** SPEC D15.55. */

import { WeirError } from '../../errors.ts';
import { answerOf } from '../../json/schema.ts';
import { inWords } from '../../text/duration.ts';
import { RESULT_RETENTION } from '../async-operations.ts';
import { type Operation, operation } from '../operation.ts';

const ID = '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7002';

export const PENDING_ANSWER = answerOf('LateAnswer', {
  answer: [ID, 'The id of the operation.'],
  landed: [false, 'Always false: it is not known yet what has been applied.'],
});

const none = (id: string) =>
  `this process has no result "${id}" for this key: another process ran the operation, it is older than ${inWords(RESULT_RETENTION)}, or the process was restarted. GET /v1/manage/batches shows what was sent`;

export const ANSWER_OPERATIONS: readonly Operation[] = [
  operation('getAnswer', 'GET /answers/{answer}', null, {
    summary: 'Get the result of an asynchronous operation',
    description: `Returns 202 until the operation is done, then its status and body, errors included, for ${inWords(RESULT_RETENTION)} and to the same key. Only the process that ran the operation has the result.`,
    answer: PENDING_ANSWER,
    refusals: { 404: none(ID) },
    async run({ asyncOperations, caller }, { params }) {
      const id = params.answer!.toLowerCase();
      const found = asyncOperations.find(caller, id);
      if (found === undefined) throw new WeirError('NOT_FOUND', none(id));
      return found;
    },
    show: (found) => found,
  }),
];

/** SPEC D54.1, D54.2. */
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type } from '../../../json/schema.ts';
import { extractTargets, MOST_FOUND, MOST_UNCLEAR } from '../../../source/readers/report.ts';
import { judgePasted, PASTED_VERDICTS } from '../../lookup/pasted.ts';
import { type Operation, operation } from '../../operation.ts';

const BODY = 1024 * 1024;

const RULE = {
  id: 7,
  target: '198.51.100.0/24',
  list_id: ['0195a3c0-0000-7000-8000-000000000001', nullable(Type.String())],
  list_name: 'default',
  reason: ['port scan', nullable(Type.String())],
  expires_at: [null, nullable(Type.String({ format: 'date-time' }))],
} as const satisfies Fields;
export const NARROW_RULE = objectOf(RULE);
export const NARROW_EXAMPLE = exampleOf(RULE);

export const EXTRACT_OPERATIONS: readonly Operation[] = [
  operation('extractTargets', 'POST /extract', 'rules:read', {
    summary: 'Find the addresses in a report, an e-mail or a log, with a verdict for each',
    description: `The body is text, also defanged (\`192[.]0[.]2[.]1\`, \`hxxp://\`). Only unmistakable addresses and networks are found; a version such as 1.2.3.4 looks the same, so check \`context\`. Nothing changes. Limits: 1 MiB, ${MOST_FOUND} targets.`,
    bodyBytes: BODY,
    rawBody: { type: 'text/plain', example: 'C2 at hxxp://192[.]0[.]2[.]1:8080/a, scans from 198.51.100.0/24\n' },
    answer: answerOf('Extracted', {
      found: listOf(
        {
          target: '192.0.2.1',
          verdict: [
            'new',
            Type.Enum([...PASTED_VERDICTS], {
              description:
                'private: a private address; protected: guard rails refuse a block; never_block: an allow rule contains it; blocked: a rule blocks exactly it; inside: a wider block contains it; new: none of these.',
            }),
          ],
          why: [null, nullable(Type.String({ description: 'Why guard rails refuse a block.' }))],
          rule: [null, nullable(NARROW_RULE, { description: 'The narrowest active rule of the verdict, in any list.' })],
          line: 1,
          context: 'C2 at hxxp://192.0.2.1:8080/a, scans from',
          times: 1,
        },
        { description: 'Distinct targets, in the order of the text.' },
      ),
      found_left_out: [0, `Targets beyond the first ${MOST_FOUND}.`],
      unclear: listOf(
        { line: 1, text: '203.0.113.9/24', why: 'has host bits: write 203.0.113.9 or 203.0.113.0/24' },
        { description: `Ambiguous notations, at most ${MOST_UNCLEAR}; nothing is found there.` },
      ),
      unclear_left_out: 0,
    }),
    refusals: { 409: 'this takes too long in a workspace with so many lists: send fewer addresses' },
    run: (context, { bytes }) =>
      context.inTurn(async () => {
        await context.pause();
        await context.untilLanded();
        const { found, foundLeftOut, unclear, unclearLeftOut } = await extractTargets(new TextDecoder().decode(bytes), context.pause);
        const judged = await judgePasted(
          context,
          found.map(({ network }) => network),
        );
        return {
          found: found.map(({ line, context: text, times }, i) => ({ ...judged[i], line, context: text, times })),
          found_left_out: foundLeftOut,
          unclear,
          unclear_left_out: unclearLeftOut,
        };
      }, `extract ${context.workspaceId}`),
  }),
];

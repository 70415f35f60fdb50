/** Trying filter expressions (SPEC D15.40). */

import { faultExcerpt } from '@weir/expression/fault.ts';
import { nullable, Type } from '../../json-schema.ts';
import { EXPRESSION_KINDS, type ExpressionKind } from '../../rule.ts';
import { judgeExpression } from '../expressions.ts';
import { type Operation, operation } from '../operation.ts';

const FAULT = Type.Object({
  line: Type.Integer(),
  column: Type.Integer({ description: 'In bytes of UTF-8, from 1.' }),
  length: Type.Integer({ description: 'Bytes of the faulty stretch.' }),
  text: Type.String(),
  excerpt: Type.String({ description: 'The line at fault, with carets under it.' }),
});

export const EXPRESSION_OPERATIONS: readonly Operation[] = [
  operation({
    name: 'checkExpression',
    summary: 'Judge a filter expression as the signal endpoint does',
    method: 'POST',
    path: '/expressions/check',
    permission: 'rules:read',
    body: Type.Object({ kind: Type.Enum([...EXPRESSION_KINDS]), expression: Type.String() }),
    answer: Type.Object(
      {
        valid: Type.Boolean(),
        phase: nullable(Type.String({ description: 'The phase that it needs; null for kinds without one.' })),
        fields: Type.Array(Type.String(), { description: 'The fields that it uses.' }),
        hints: Type.Array(Type.String(), { description: 'What the author may not have meant.' }),
        fault: nullable(FAULT),
      },
      {
        title: 'ExpressionVerdict',
        examples: [
          {
            valid: false,
            phase: null,
            fields: [],
            hints: [],
            fault: { line: 1, column: 4, length: 5, text: 'unknown field', excerpt: '  ip.sorce eq 192.0.2.1\n     ^^^^^' },
          },
        ],
      },
    ),
    audit: null,
    examples: [{ kind: 'waf_rule', expression: 'http.request.path contains "/login"' }],
    async run({ schemes }, { body: { kind, expression } }) {
      const verdict = judgeExpression(expression, schemes[kind as ExpressionKind]);
      if (verdict.fault === null) return { valid: true, phase: verdict.phase, fields: verdict.fields, hints: verdict.hints, fault: null };
      return {
        valid: false,
        phase: null,
        fields: [],
        hints: [],
        fault: { ...verdict.fault, excerpt: faultExcerpt(expression, verdict.fault) },
      };
    },
    show: (body) => ({ body }),
  }),
];

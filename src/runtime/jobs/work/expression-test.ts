import { type TestInput, testExpression } from '../../../manage/expressions/expression-test.ts';
import { readSchemes } from '../../schemes.ts';

export function serve({ schemesFile }: { readonly schemesFile: string | undefined }) {
  const schemes = readSchemes(schemesFile);
  return { test: async ({ kind, expression, request }: TestInput) => testExpression(expression, schemes[kind], request) };
}

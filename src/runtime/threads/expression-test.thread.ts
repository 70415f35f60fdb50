/** Tests expressions sequentially: their authors determine the time. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type TestInput, testExpression } from '../../manage/expressions/expression-test.ts';
import { readSchemes } from '../schemes.ts';
import type { ExpressionTestMethods } from './expression-test.ts';
import { serveCalls } from './rpc.ts';

const schemes = readSchemes((workerData as { readonly schemesFile: string | undefined }).schemesFile);

serveCalls(parentPort as MessagePort, {
  test: async ({ kind, expression, request }: TestInput) => testExpression(expression, schemes[kind], request),
} satisfies ExpressionTestMethods);

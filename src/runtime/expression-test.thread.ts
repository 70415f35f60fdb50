/** A thread that tests one expression on one request, and ends: how long that takes is the author's doing. */
import { parentPort, workerData } from 'node:worker_threads';
import { type TestInput, testExpression } from '../manage/expression-test.ts';
import { readSchemes } from './schemes.ts';

const { kind, expression, request, schemesFile } = workerData as TestInput & { readonly schemesFile: string | undefined };
const schemes = readSchemes(schemesFile);
parentPort!.postMessage(testExpression(expression, schemes[kind], request));

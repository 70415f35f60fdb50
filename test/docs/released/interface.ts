/**
 * The names that programs use: operations with their parameters and members, settings, metrics, commands with their options.
 */
import { PassThrough } from 'node:stream';
import { runCommandLine } from '../../../src/cli/program.ts';
import { SETTINGS } from '../../../src/config.ts';
import { METRICS } from '../../../src/runtime/metrics/metrics.ts';
import { docsApp } from '../../support/docs-app.ts';
import { inject } from '../../support/inject.ts';

/** Of each thing its parts, separated by blanks: one line a thing. */
export type Names = Readonly<Record<string, string>>;
export interface Interface {
  readonly operations: Names;
  readonly settings: Names;
  readonly metrics: Names;
  readonly commands: Names;
  /** Networks of a feed made of the data of the release. */
  readonly feed?: string;
  /** By command. */
  readonly json?: Names;
  /** By metric. */
  readonly labels?: Names;
}

const GROUPS = ['signal', 'feeds', 'rules', 'agent', 'bouncer', 'manage'];
const words = (all: Iterable<string>) => [...new Set(all)].sort().join(' ');

interface Schema {
  readonly $ref?: string;
  readonly name?: string;
  readonly schema?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The members of all objects below a part of an API document, each by its own name; references are followed once. */
function* membersOf(part: unknown, schemas: Readonly<Record<string, unknown>>, seen = new Set<string>()): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  const { $ref, properties } = part as Schema;
  const name = $ref?.split('/').at(-1);
  if (name !== undefined && !seen.has(name)) yield* membersOf(schemas[name], schemas, seen.add(name));
  if (properties !== undefined) yield* Object.keys(properties);
  for (const [key, value] of Object.entries(part)) if (key !== 'example' && key !== 'examples') yield* membersOf(value, schemas, seen);
}

async function operations(): Promise<Names> {
  const found: Record<string, string> = {};
  for (const group of GROUPS) {
    const { paths, components } = (await inject(docsApp(), `/docs/${group}/swagger/json`)).json();
    for (const [path, methods] of Object.entries<
      Record<string, { parameters?: Schema[]; requestBody?: unknown; responses: Record<string, unknown> }>
    >(paths)) {
      for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
        const parts = [
          ...parameters.map(({ name }) => `?${name}`),
          ...[...membersOf(requestBody, components.schemas)].map((name) => `>${name}`),
          ...Object.keys(responses),
          ...membersOf(Object.values(responses), components.schemas),
        ];
        found[`${method.toUpperCase()} ${path}`] = words(parts);
      }
    }
  }
  return found;
}

async function help(...path: string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  await runCommandLine([...path, '--help'], { environment: {}, stdout, stderr });
  return String(stdout.read() ?? '');
}

/** What a heading of a help text lists. */
const listed = (text: string, heading: string, pattern: RegExp) =>
  [...(text.split(`${heading}:\n`)[1]?.split(/\n(?! )/)[0] ?? '').matchAll(pattern)].map(([, name]) => name!);

async function commands(...path: string[]): Promise<[string, string][]> {
  const text = await help(...path);
  const inner = listed(text, 'Commands', /^ {2}([a-z][a-z-]*)/gm).filter((name) => name !== 'help');
  if (inner.length === 0 || path.length > 1) return [[path.join(' '), words(listed(text, 'Options', /^ {2}(?:-\w, )?(--[a-z0-9-]+)/gm))]];
  const all = [];
  for (const name of inner) all.push(...(await commands(...path, name)));
  return all;
}

export const readInterface = async (): Promise<Interface> => ({
  operations: await operations(),
  settings: Object.fromEntries(Object.values(SETTINGS).map(({ variable, fallback }) => [variable, fallback ?? ''])),
  metrics: Object.fromEntries(METRICS.map(({ name, type }) => [name, type])),
  commands: Object.fromEntries(await commands()),
});

/** The file of a workspace as it is read and written: YAML 1.2, of which JSON is a part (SPEC D28.1, D28.8). */
import { readFileSync } from 'node:fs';
import { WeirError } from '../../errors.ts';
import { MOST_BYTES, type WorkspaceFile } from '../../manage/file/schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a file whose form `judge` accepts, with the secrets that it names. Rejects with USAGE for what cannot be read. */
export async function readSettingsFile(
  path: string,
  environment: Environment,
  judge: (value: unknown) => asserts value is Record<string, unknown>,
): Promise<WorkspaceFile> {
  const bytes = readBytes(path === '-' ? 0 : path, path);
  if (bytes.length > MOST_BYTES) throw new WeirError('USAGE', `"${path}" has more than ${MOST_BYTES} bytes`);
  const value = await parse(bytes, path);
  const check: typeof judge = judge;
  check(value);
  const sources = value.sources as Record<string, unknown>[] | null | undefined;
  return sources == null ? value : { ...value, sources: sources.map((source, i) => withSecret(source, `sources[${i}]`, environment)) };
}

function readBytes(file: string | number, path: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new WeirError('USAGE', `"${path}" cannot be read: ${(error as Error).message}`);
  }
}

async function parse(bytes: Buffer, path: string): Promise<unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new WeirError('USAGE', `"${path}" is not UTF-8`);
  }
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    throw new WeirError(
      'USAGE',
      faults.map(({ message, linePos }) => `${path}:${linePos?.[0].line ?? 1}: ${message.split('\n')[0]}`).join('\n'),
    );
  try {
    return document.toJS();
  } catch (error) {
    throw new WeirError('USAGE', `${path}: ${(error as Error).message}`);
  }
}

/** A source with the secret that its file or variable has, in the place of their names. */
function withSecret(source: Record<string, unknown>, path: string, environment: Environment): Record<string, unknown> {
  const { secret_file: file, secret_env: variable, ...others } = source;
  const named = [file, variable, source.secret].filter((each) => each != null).length;
  if (named > 1) throw new WeirError('USAGE', `${path}: names its secret more than once`);
  if (file != null) return { ...others, secret: lineOf(readBytes(String(file), String(file)).toString('utf8')) };
  if (variable == null) return others;
  const value = environment[String(variable)];
  if (value === undefined || value === '') throw new WeirError('USAGE', `${path}.secret_env: the environment has no ${variable}`);
  return { ...others, secret: value };
}

const lineOf = (text: string) => text.replace(/\r?\n$/, '');

/** A file as it is written. Words that YAML 1.1 would take for others stand in quotes. */
export async function settingsText(file: WorkspaceFile, format: 'yaml' | 'json'): Promise<string> {
  if (format === 'json') return JSON.stringify(file, null, 2);
  const { stringify } = await import('yaml');
  return stringify(file, { compat: 'yaml-1.1', lineWidth: 0 }).trimEnd();
}

/** Workspace files: YAML 1.2, including JSON (SPEC D28.1, D28.8). */
import { readFileSync } from 'node:fs';
import { WeirError } from '../../errors.ts';
import { MOST_BYTES, type WorkspaceFile } from '../../manage/file/schema.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Includes the named secrets. Rejects with USAGE. */
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
  return Object.fromEntries(
    Object.entries(value).map(([section, entries]) => [
      section,
      Array.isArray(entries) ? entries.map((entry, i) => withNamed(entry, `${section}[${i}]`, environment)) : entries,
    ]),
  );
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
  try {
    const document = parseDocument(text, { prettyErrors: true });
    const lines = [...document.errors, ...document.warnings].map(
      ({ code, message, linePos }) =>
        `${path}:${linePos?.[0].line ?? 1}: ${code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : message.split('\n')[0]}`,
    );
    if (lines.length > 0) throw new WeirError('USAGE', [...new Set(lines)].join('\n'));
    return document.toJS();
  } catch (error) {
    if (error instanceof WeirError) throw error;
    throw new WeirError('USAGE', `${path}: ${error instanceof RangeError ? TOO_DEEP : (error as Error).message}`);
  }
}

/** The library's stack overflows. */
const TOO_DEEP = 'is nested too deeply';

/** Replaces `secret_file`, `secret_env` and `url_env` by their values. */
function withNamed(entry: Record<string, unknown>, path: string, environment: Environment): Record<string, unknown> {
  const found = ['secret', 'url'].flatMap((field) => {
    const { [`${field}_file`]: file, [`${field}_env`]: variable, [field]: own } = entry;
    if ([file, variable, own].filter((each) => each != null).length > 1)
      throw new WeirError('USAGE', `${path}.${field}: is given more than once`);
    if (file != null) return [[field, lineOf(readBytes(String(file), String(file)).toString('utf8'))]];
    if (variable == null) return [];
    const value = environment[String(variable)];
    if (!value) throw new WeirError('USAGE', `${path}.${field}_env: the environment has no ${variable}`);
    return [[field, value]];
  });
  const others = Object.entries(entry).filter(([field]) => !/^(secret|url)_(file|env)$/.test(field));
  return { ...Object.fromEntries(others), ...Object.fromEntries(found) };
}

const lineOf = (text: string) => text.replace(/\r?\n$/, '');

/** Quotes words with another type in YAML 1.1. */
export async function settingsText(file: WorkspaceFile, format: 'yaml' | 'json'): Promise<string> {
  if (format === 'json') return JSON.stringify(file, null, 2);
  const { stringify } = await import('yaml');
  return stringify(file, { compat: 'yaml-1.1', lineWidth: 0 }).trimEnd();
}

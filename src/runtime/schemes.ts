/** Which fields and functions expressions may use here: those of the packaged schemes, and those that the operator's file adds. */
import { readFileSync } from 'node:fs';
import { loadSchemes, packagedSchemes, type Schemes } from '@weir/expression/scheme.ts';
import { WeirError } from '../errors.ts';

/** The schemes of this process; `file` is SCHEMES_FILE. Throws USAGE with one line when the file is missing or broken. */
export function readSchemes(file: string | undefined): Schemes {
  if (file === undefined) return packagedSchemes();
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new WeirError('USAGE', oneLine(`SCHEMES_FILE ${file} cannot be read as JSON: ${(error as Error).message}`));
  }
  const schemes = loadSchemes(json);
  if (Array.isArray(schemes)) throw new WeirError('USAGE', oneLine(`SCHEMES_FILE ${file}: ${schemes.join('; ')}`));
  return schemes;
}

/** Reasons quote the file, line breaks included. */
const oneLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ');

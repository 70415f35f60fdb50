import { readFileSync } from 'node:fs';
import { loadSchemes, packagedSchemes, type Schemes } from '@weir/expression/scheme.ts';
import { WeirError } from '../errors.ts';

/** `file`: SCHEMES_FILE. Throws USAGE in one line. */
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

/** Reasons may quote the file. */
const oneLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ');

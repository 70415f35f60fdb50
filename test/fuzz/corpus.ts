/** The corpus of a target: one text a line, as JSON. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const corpusFile = (target: string): string => fileURLToPath(new URL(`corpus/${target}.jsonl`, import.meta.url));

/** The texts that are kept; none when there is no file yet. */
export function corpusOf(target: string): string[] {
  if (!existsSync(corpusFile(target))) return [];
  return readFileSync(corpusFile(target), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as string);
}

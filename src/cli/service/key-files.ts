/** Files for the texts of new keys (SPEC D28.7). */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { WeirError } from '../../errors.ts';
import type { KeyText } from '../../manage/file/apply.ts';

const LONGEST = 180;
const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** `berlin firewall` becomes `berlin%20firewall.key`. */
export function keyFileName(name: string): string {
  const safe = encodeURIComponent(name).replaceAll(/^\.|[*'()!~]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `${safe.length <= LONGEST ? safe : `${safe.slice(0, LONGEST)}-${sha256(name).toString('hex').slice(0, 12)}`}.key`;
}

/** Creates the folder. `isKnown`: whether a key with this SHA-256 exists; leftovers of a failed attempt are overwritten. */
export function keyFiles(folder: string, isKnown: (hash: Uint8Array) => Promise<boolean>) {
  const written = new Set<string>();
  const of = (name: string) => join(folder, keyFileName(name));
  async function write(file: string, text: string): Promise<void> {
    if (existsSync(file) && !written.has(file) && (await isKnown(sha256(readFileSync(file, 'utf8').trim()))))
      throw new WeirError('USAGE', `"${file}" has the text of a key that is there: nothing has been done, name another folder`);
    const draft = `${file}.${process.pid}`;
    const handle = openSync(draft, 'w', 0o600);
    writeSync(handle, `${text}\n`);
    fsyncSync(handle);
    closeSync(handle);
    renameSync(draft, file);
    written.add(file);
  }
  return {
    of,
    /** Writes durably before the keys are made: no text is lost. Rejects with USAGE if a file holds an existing key. */
    async write(keys: readonly KeyText[]): Promise<void> {
      if (keys.length > 0) mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const { name, key } of keys) await write(of(name), key);
    },
    /** For keys that were not made. */
    revert(): void {
      for (const file of written) rmSync(file, { force: true });
    },
  };
}

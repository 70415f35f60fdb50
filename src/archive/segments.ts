/**
 * Segments of archive files: lines of JSON in members of gzip, with a head, settings if they changed, events, and an end with a checksum.
 * A file is replaced as a whole by a longer one: it always consists of complete segments (SPEC D61.1).
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { createGunzip, gzipSync } from 'node:zlib';
import { WeirError } from '../errors.ts';
import type { ArchivedSettings } from './settings.ts';

/** Everything until then is in the archive. */
export interface Position {
  /** The last item's number. */
  readonly seq: number;
  /** ms */
  readonly at: number;
}

export interface SegmentHead {
  readonly weir_archive: 1;
  readonly kind: 'base' | 'changes';
  readonly workspace: string;
  /** null: a base, which has all rules at `until`. */
  readonly from: Position | null;
  readonly until: Position;
  /** SHA-256 of the settings at `until`. */
  readonly settings: string;
  /** The newest audit event at `until`. */
  readonly audit: number;
  /** First and last change of settings between, ms; null: none. */
  readonly settings_changed: readonly [first: number, last: number] | null;
  /** Lists deleted for good between: their changes are not known. */
  readonly lost: readonly string[];
}

export interface Segment {
  readonly head: SegmentHead;
  /** undefined: as in the previous segment. */
  readonly settings: ArchivedSettings | undefined;
  /** Lines of JSON. */
  readonly events: AsyncIterable<string>;
}

/** Uncompressed bytes of a member. */
const MEMBER = 1_048_576;
/** Bytes per read: lines of settings may have megabytes. */
const CHUNK = 131_072;
export const TEMPORARY = '.new';

/** Called before each change of the folder. Tests stop there. */
export type BeforeWrite = () => void;

/** Appends a segment; returns the number of its events. */
export async function appendSegment(
  path: string,
  { head, settings, events }: Segment,
  beforeWrite: BeforeWrite = () => {},
): Promise<number> {
  const written = `${path}.${randomUUID()}${TEMPORARY}`;
  const hash = createHash('sha256');
  let [text, lines] = ['', 0];
  beforeWrite();
  if (existsSync(path)) copyFileSync(path, written, constants.COPYFILE_FICLONE);
  const file = openSync(written, 'a', 0o640);
  const flush = () => {
    if (text === '') return;
    beforeWrite();
    const bytes = gzipSync(text);
    for (let from = 0; from < bytes.length; ) from += writeSync(file, bytes, from);
    text = '';
  };
  const add = (line: string) => {
    hash.update(line).update('\n');
    lines += 1;
    text += `${line}\n`;
    if (text.length >= MEMBER) flush();
  };
  try {
    add(JSON.stringify(head));
    if (settings !== undefined) add(JSON.stringify({ settings }));
    const before = lines;
    for await (const event of events) add(event);
    const count = lines - before;
    text += `${JSON.stringify({ end: { lines, sha256: hash.digest('hex') } })}\n`;
    flush();
    fsyncSync(file);
    beforeWrite();
    renameSync(written, path);
    syncFolder(dirname(path));
    return count;
  } catch (error) {
    rmSync(written, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export interface Visitor {
  /** false: nothing more of the file is needed. */
  head(head: SegmentHead): boolean;
  settings?(settings: ArchivedSettings): void;
  event?(line: string): void;
  /** The segment was complete and undamaged. */
  end?(): void;
}

/** Reads a file in bounded memory. Rejects with REFUSED if it is damaged; then nothing after the last `end` counts. */
export async function readSegments(path: string, visitor: Visitor): Promise<void> {
  const reader = new SegmentReader(visitor);
  const input = createReadStream(path);
  const unpacked = createGunzip({ chunkSize: CHUNK });
  const failed = new Promise<never>((_, reject) => input.once('error', reject));
  failed.catch(() => {});
  input.pipe(unpacked);
  try {
    let rest: Buffer = Buffer.alloc(0);
    const chunks = unpacked[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([chunks.next(), failed]);
      if (next.done === true) break;
      const bytes = rest.length === 0 ? (next.value as Buffer) : Buffer.concat([rest, next.value as Buffer]);
      const end = bytes.lastIndexOf(10) + 1;
      rest = Buffer.from(bytes.subarray(end));
      if (!reader.read(bytes.toString('utf8', 0, end))) return;
    }
    if (rest.length > 0 || !reader.isBetween) throw new Error('it ends within a segment');
  } catch (error) {
    if (error instanceof WeirError) throw error;
    throw new WeirError('REFUSED', `the archive file ${basename(path)} is damaged: ${(error as Error).message}`);
  } finally {
    input.destroy();
    unpacked.destroy();
  }
}

class SegmentReader {
  readonly #visitor: Visitor;
  #hash = createHash('sha256');
  #lines = 0;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
  }

  get isBetween(): boolean {
    return this.#lines === 0;
  }

  /** Whole lines; false: the visitor needs no more. */
  read(text: string): boolean {
    for (let from = 0; from < text.length; ) {
      const end = text.indexOf('\n', from) + 1;
      const line = text.slice(from, end - 1);
      from = end;
      if (line.startsWith('{"end":')) {
        this.#end(line);
        continue;
      }
      this.#hash.update(line).update('\n');
      this.#lines += 1;
      if (this.#lines === 1) {
        const head = JSON.parse(line) as SegmentHead;
        if (head.weir_archive !== 1) throw new Error('a segment has no head');
        if (!this.#visitor.head(head)) return false;
      } else if (line.startsWith('{"settings":')) this.#visitor.settings?.((JSON.parse(line) as { settings: ArchivedSettings }).settings);
      else this.#visitor.event?.(line);
    }
    return true;
  }

  #end(line: string): void {
    const { lines, sha256 } = (JSON.parse(line) as { end: { lines: number; sha256: string } }).end;
    if (lines !== this.#lines || sha256 !== this.#hash.digest('hex')) throw new Error('a checksum differs');
    this.#hash = createHash('sha256');
    this.#lines = 0;
    this.#visitor.end?.();
  }
}

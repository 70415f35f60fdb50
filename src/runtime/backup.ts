/** Online and offline, of the embedded engine (SPEC D11.7, D11.8). */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { backup as copyPages, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { WeirError } from '../errors.ts';
import { isBusy } from '../store/sqlite/database.ts';
import { readPositions, STORE_FILE } from '../store/sqlite/positions.ts';
import { logReader, STREAM_FILE } from '../stream/sqlite/log.ts';
import { openDataDir } from './data-dir.ts';

/** Order of copying. The stream has to be as new as the store: missing rules land from it, but missing messages would stop the landing. */
const FILES = [STORE_FILE, STREAM_FILE] as const;
/** Side files of SQLite. */
const BESIDE = ['', '-wal', '-shm', '-journal'];
/** Written last: marks a complete backup. */
const MANIFEST = 'backup.json';
const VERSION = 1;

export interface Backup {
  readonly weir_backup: typeof VERSION;
  /** Start of the backup, ISO 8601. Includes everything accepted before. */
  readonly at: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
  /** Messages that land after a restore. */
  readonly unlanded: number;
}

/** Each file at one instant, into a new or empty folder, verified. Rejects with USAGE or REFUSED; the folder then contains no backup. */
export async function backUp(dataDir: string, folder: string): Promise<Backup> {
  if (!existsSync(join(dataDir, STORE_FILE))) throw new WeirError('REFUSED', `there is no store in DATA_DIR ${dataDir}`);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new WeirError('USAGE', `the folder "${folder}" is not empty`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = new Date().toISOString();
  const present = FILES.filter((name) => existsSync(join(dataDir, name)));
  try {
    for (const name of present) await copyDatabase(join(dataDir, name), join(folder, name));
    const unlanded = checkPositions(folder);
    const files = await Promise.all(present.map((name) => describe(folder, name)));
    const backup: Backup = { weir_backup: VERSION, at, files, unlanded };
    writeFileSync(join(folder, MANIFEST), `${JSON.stringify(backup, null, 2)}\n`, { mode: 0o600 });
    for (const name of [...present, MANIFEST, '.']) sync(join(folder, name));
    return backup;
  } catch (error) {
    for (const name of [...FILES, MANIFEST]) removeDatabase(folder, name);
    throw error;
  }
}

/** Rejects with USAGE if the backup is incomplete, with REFUSED if the data folder has files that must not be replaced or are open. */
export async function restore(folder: string, dataDir: string, isForced: boolean): Promise<Backup> {
  const backup = await readBackup(folder);
  openDataDir(dataDir);
  const old = FILES.filter((name) => BESIDE.some((end) => existsSync(join(dataDir, name + end))));
  if (old.length > 0 && !isForced) {
    throw new WeirError('REFUSED', `DATA_DIR ${dataDir} has ${old.join(' and ')} already; use --force to replace them`);
  }
  for (const name of old) refuseOpen(join(dataDir, name));
  const incoming = (name: string) => join(dataDir, `${name}.restoring`);
  for (const { name } of backup.files) {
    copyFileSync(join(folder, name), incoming(name));
    chmodSync(incoming(name), 0o600);
    if (name === STORE_FILE) markRestored(incoming(name));
    sync(incoming(name));
  }
  for (const name of FILES) removeDatabase(dataDir, name);
  // Store first: a store without a stream stops landing, a stream without a store would land in a new one.
  for (const { name } of backup.files) renameSync(incoming(name), join(dataDir, name));
  sync(dataDir);
  return backup;
}

/** For the archive: changes since the backup are missing (SPEC D61.3). */
function markRestored(file: string): void {
  const db = new DatabaseSync(file);
  try {
    db.prepare("INSERT OR REPLACE INTO counters VALUES ('restored_at', ?)").run(Date.now());
  } finally {
    db.close();
  }
}

async function copyDatabase(from: string, to: string): Promise<void> {
  writeFileSync(to, '', { mode: 0o600 });
  const source = new DatabaseSync(from, { readOnly: true, timeout: 5000 });
  try {
    // In one step; several would restart after each write.
    await copyPages(source, to, { rate: 0x7fff_ffff });
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(to);
  try {
    const faults = copy.prepare('PRAGMA integrity_check').all();
    if (faults.length !== 1 || faults[0].integrity_check !== 'ok') {
      throw new WeirError('REFUSED', `${from} is damaged: ${Object.values(faults[0]).join()}`);
    }
    copy.exec('PRAGMA journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

/** Throws REFUSED if the store's position is outside the stream. */
function checkPositions(folder: string): number {
  const [storeFile, streamFile] = FILES.map((name) => join(folder, name));
  const positions = readPositions(storeFile);
  if (!existsSync(streamFile)) {
    if (positions.size === 0) return 0;
    throw new WeirError('REFUSED', `the store has a position in a stream, but ${STREAM_FILE} is missing`);
  }
  const db = new DatabaseSync(streamFile, { readOnly: true });
  try {
    const log = logReader(db);
    const { start, end } = log.bounds();
    const position = positions.get(log.id()) ?? start;
    if (position >= start && position <= end) return end - position;
    throw new WeirError(
      'REFUSED',
      `the store's position, ${position}, is outside the stream (${start} to ${end}): see /readyz of the service`,
    );
  } finally {
    db.close();
  }
}

async function readBackup(folder: string): Promise<Backup> {
  const backup = parse(join(folder, MANIFEST));
  if (backup === undefined) throw new WeirError('USAGE', `"${folder}" is no complete backup of weir: ${MANIFEST} is missing`);
  if (backup.weir_backup !== VERSION) throw new WeirError('USAGE', `${MANIFEST} is of another version of weir`);
  for (const { name, sha256 } of backup.files) {
    const found = FILES.some((file) => file === name) && existsSync(join(folder, name)) ? await describe(folder, name) : undefined;
    if (found?.sha256 !== sha256) throw new WeirError('USAGE', `${name} in "${folder}" is missing, or is not the file that was backed up`);
  }
  return backup;
}

function parse(file: string): Backup | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Backup;
  } catch {
    return undefined;
  }
}

async function describe(folder: string, name: string): Promise<Backup['files'][number]> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(join(folder, name)), hash);
  return { name, bytes: statSync(join(folder, name)).size, sha256: hash.digest('hex') };
}

/** A file open in another process cannot leave WAL mode. Ignores damaged files. */
function refuseOpen(file: string): void {
  if (!existsSync(file)) return;
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE');
  } catch (error) {
    if (!isBusy(error)) return;
    throw new WeirError('REFUSED', `a process has ${file} open: stop weir first`);
  } finally {
    db.close();
  }
}

function removeDatabase(folder: string, name: string): void {
  for (const end of BESIDE) rmSync(join(folder, name + end), { force: true });
}

/** No effect where the system cannot sync files opened for reading. */
function sync(path: string): void {
  if (process.platform === 'win32') return;
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

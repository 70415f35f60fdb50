/**
 * Geo files that the operator accepted although they are much smaller than the data in use (SPEC D11.9), in a small file of the data folder
 * that every process reads.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GEO_KINDS, type GeoKind } from './kind.ts';
import { findSources, type GeoFiles, originOf } from './sources.ts';
import { acceptDownloads } from './update.ts';

const acceptedFile = (dir: string) => join(dir, 'geo-accepted.json');

/** Also of downloads on hold. Later states need another acceptance. Returns the files; rejects with GEO_FILE. */
export async function acceptGeo(files: GeoFiles, dir: string): Promise<Partial<Record<GeoKind, readonly string[]>>> {
  if (files.downloads !== undefined) await acceptDownloads(files.downloads);
  const origins = await Promise.all(GEO_KINDS.map((kind) => originOf(kind, files)));
  const sources = await Promise.all(GEO_KINDS.filter((_, n) => origins[n] !== 'packaged').map((kind) => findSources(kind, files)));
  const temporary = `${acceptedFile(dir)}.${process.pid}.tmp`;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(temporary, JSON.stringify(Object.fromEntries(sources.map(({ kind, signature }) => [kind, signature]))), { mode: 0o600 });
  await rename(temporary, acceptedFile(dir));
  return Object.fromEntries(sources.map(({ kind, files }) => [kind, files]));
}

/** `signature`: see `GeoSources.signature`. */
export async function isAccepted(dir: string | undefined, kind: GeoKind, signature: string): Promise<boolean> {
  if (dir === undefined) return false;
  try {
    return (JSON.parse(await readFile(acceptedFile(dir), 'utf8')) as Partial<Record<GeoKind, string>>)[kind] === signature;
  } catch {
    return false;
  }
}

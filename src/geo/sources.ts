import { readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { hasCode, WeirError } from '../errors.ts';
import { type GeoKind, KINDS } from './kind.ts';

/** The operator's file, the result of `weir geo update`, or an npm package. */
export type GeoOrigin = 'own' | 'downloaded' | 'packaged';

/** An operator's file overrides a download, a download the packaged data. */
export interface GeoFiles {
  /** GEO_COUNTRY_FILE. */
  readonly country: string | undefined;
  /** GEO_ASN_FILE. */
  readonly asn: string | undefined;
  /** undefined: ignore downloads. */
  readonly downloads?: string;
}

export interface GeoSources {
  readonly kind: GeoKind;
  readonly origin: GeoOrigin;
  /** The file and its twin of the other family. */
  readonly files: readonly string[];
  /** GeoLite2, maps GeoNames ids to countries; in the same folder. */
  readonly locations: string | undefined;
  /** YYYY-MM-DD. */
  readonly date: string | undefined;
  /** Changes when a file is written to or replaced. */
  readonly signature: string;
}

/** The setting, or "packaged". */
export const sourcesLabel = ({ kind, origin }: Pick<GeoSources, 'kind' | 'origin'>): string =>
  origin === 'own' ? KINDS[kind].setting : `${origin} ${kind} data`;

/** Written by `weir geo update`, IPv4 and IPv6. */
export const downloadedFile = (folder: string, kind: GeoKind): string => join(folder, `${kind}.csv`);

export async function originOf(kind: GeoKind, files: GeoFiles): Promise<GeoOrigin> {
  if (files[kind] !== undefined) return 'own';
  const isDownloaded = files.downloads !== undefined && (await stat(downloadedFile(files.downloads, kind)).catch(() => undefined));
  return isDownloaded ? 'downloaded' : 'packaged';
}

/** GEO_FILE: missing or unreadable. */
export async function findSources(kind: GeoKind, files: GeoFiles): Promise<GeoSources> {
  const origin = await originOf(kind, files);
  if (origin === 'packaged') {
    const { file, date } = findPackaged(kind);
    return sourcesOf(kind, origin, file, date);
  }
  return sourcesOf(kind, origin, origin === 'own' ? files[kind]! : downloadedFile(files.downloads!, kind));
}

/** Rejects with GEO_FILE. */
export async function sourcesOf(kind: GeoKind, origin: GeoOrigin, file: string, date?: string): Promise<GeoSources> {
  const label = sourcesLabel({ kind, origin });
  const twin = twinOf(file);
  const locations = kind === 'country' ? await findLocations(file) : undefined;
  const signature = await fileSignature(file, label);
  const twinSignature = twin && (await fileSignature(twin, label, true));
  const locationsSignature = locations && (await fileSignature(locations, label));
  return {
    kind,
    origin,
    files: twin && twinSignature ? [file, twin] : [file],
    locations,
    date,
    signature: [signature, twinSignature, locationsSignature].filter(Boolean).join('\n'),
  };
}

interface PackagedData {
  readonly file: string;
  readonly date: string | undefined;
}

function findPackaged(kind: GeoKind): PackagedData {
  const { name, file } = KINDS[kind].packaged;
  try {
    const description = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const { version } = JSON.parse(readFileSync(description, 'utf8')) as { version: string };
    // The last number of the version is the hour of the data: 2.3.2026061719.
    const [, year, month, day] = /\.(\d{4})(\d\d)(\d\d)\d*$/.exec(version) ?? [];
    return { file: join(dirname(description), file), date: year && `${year}-${month}-${day}` };
  } catch {
    throw new WeirError('GEO_FILE', `packaged ${kind} data: the package ${name} is not installed; npm ci installs it`);
  }
}

const STAT_FAULTS: Readonly<Record<string, string>> = { ENOENT: 'there is no such file', EACCES: 'weir is not allowed to read it' };

/** undefined: an optional file is missing. */
async function fileSignature(file: string, label: string, isOptional = false): Promise<string | undefined> {
  try {
    const stats = await stat(file, { bigint: true });
    if (!stats.isFile()) throw new WeirError('GEO_FILE', `${label}: ${file}: this is not a file`);
    return `${file} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}`;
  } catch (error) {
    if (hasCode(error, 'GEO_FILE')) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (isOptional && code === 'ENOENT') return undefined;
    throw new WeirError('GEO_FILE', `${label}: ${file}: ${STAT_FAULTS[code ?? ''] ?? message}`);
  }
}

/** Vendors publish …-IPv4.csv and …-IPv6.csv. undefined: the name has no family. */
function twinOf(file: string): string | undefined {
  const name = basename(file);
  const twin = name.replace(/(ipv)([46])/i, (_, ipv, family) => ipv + (family === '4' ? '6' : '4'));
  return twin === name ? undefined : join(dirname(file), twin);
}

/** The file of the same product, or else the only one: …-Country-Locations-en.csv for …-Country-Blocks-IPv4.csv. */
async function findLocations(file: string): Promise<string | undefined> {
  const names = await readdir(dirname(file)).catch(() => []);
  const candidates = names.filter((name) => name.endsWith('-Locations-en.csv'));
  const [product] = basename(file).split('-Blocks');
  const name = candidates.find((candidate) => candidate.startsWith(product)) ?? (candidates.length === 1 ? candidates[0] : undefined);
  return name && join(dirname(file), name);
}

import { readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { hasCode, WeirError } from '../errors.ts';
import { type GeoKind, KINDS } from './kind.ts';

/** Where geo data come from: a file that the operator names, a file that `weir geo update` fetched, or a package of npm. */
export type GeoOrigin = 'own' | 'downloaded' | 'packaged';

/** What geo data may be read from, for each kind. An own file stands before a downloaded one, and that before the packaged data. */
export interface GeoFiles {
  /** GEO_COUNTRY_FILE. */
  readonly country: string | undefined;
  /** GEO_ASN_FILE. */
  readonly asn: string | undefined;
  /** The folder of downloaded files; undefined = they are not looked at. */
  readonly downloads?: string;
}

/** The files that one kind of geo data is read from. */
export interface GeoSources {
  readonly kind: GeoKind;
  readonly origin: GeoOrigin;
  /** The file itself and, if there is one beside it, its twin of the other family. */
  readonly files: readonly string[];
  /** The GeoLite2 file that maps GeoNames ids to countries, if there is one beside the file. */
  readonly locations: string | undefined;
  /** The day of the packaged data (YYYY-MM-DD). */
  readonly date: string | undefined;
  /** Identifies the state of the files: it changes when one of them is written to or replaced. */
  readonly signature: string;
}

/** The beginning of messages about these data: the setting, or that they are packaged. */
export const sourcesLabel = ({ kind, origin }: Pick<GeoSources, 'kind' | 'origin'>): string =>
  origin === 'own' ? KINDS[kind].setting : `${origin} ${kind} data`;

/** The file in which `weir geo update` keeps the data of a kind, IPv4 and IPv6. */
export const downloadedFile = (folder: string, kind: GeoKind): string => join(folder, `${kind}.csv`);

/** Where the data of a kind come from now. */
export async function originOf(kind: GeoKind, files: GeoFiles): Promise<GeoOrigin> {
  if (files[kind] !== undefined) return 'own';
  const isDownloaded = files.downloads !== undefined && (await stat(downloadedFile(files.downloads, kind)).catch(() => undefined));
  return isDownloaded ? 'downloaded' : 'packaged';
}

/** Finds the files of a kind. Rejects with GEO_FILE when a file is missing or unreadable. */
export async function findSources(kind: GeoKind, files: GeoFiles): Promise<GeoSources> {
  const origin = await originOf(kind, files);
  if (origin === 'packaged') {
    const { file, date } = findPackaged(kind);
    return sourcesOf(kind, origin, file, date);
  }
  return sourcesOf(kind, origin, origin === 'own' ? files[kind]! : downloadedFile(files.downloads!, kind));
}

/** What belongs to this file of a kind, whose data are of `date` where that is known. Rejects with GEO_FILE. */
export async function sourcesOf(kind: GeoKind, origin: GeoOrigin, file: string, date?: string): Promise<GeoSources> {
  const label = sourcesLabel({ kind, origin });
  const twin = twinOf(file);
  const locations = kind === 'country' ? await locationsBeside(file) : undefined;
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

/** Identifies the present state of a file. A missing file is an error, or undefined if `isOptional`. */
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

/** The name of the file for the other family: vendors publish …-IPv4.csv and …-IPv6.csv. undefined when the name has no family. */
function twinOf(file: string): string | undefined {
  const name = basename(file);
  const twin = name.replace(/(ipv)([46])/i, (_, ipv, family) => ipv + (family === '4' ? '6' : '4'));
  return twin === name ? undefined : join(dirname(file), twin);
}

/** The Locations file of the same product, or else the only one: …-Country-Locations-en.csv for …-Country-Blocks-IPv4.csv. */
async function locationsBeside(file: string): Promise<string | undefined> {
  const names = await readdir(dirname(file)).catch(() => []);
  const candidates = names.filter((name) => name.endsWith('-Locations-en.csv'));
  const [product] = basename(file).split('-Blocks');
  const name = candidates.find((candidate) => candidate.startsWith(product)) ?? (candidates.length === 1 ? candidates[0] : undefined);
  return name && join(dirname(file), name);
}

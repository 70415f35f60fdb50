/** `weir upgrade --check`: the effects of an upgrade, from the release.json of a repository (SPEC D49.5). */
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { WeirError } from '../../errors.ts';
import { schemaOf } from '../../runtime/engines.ts';
import type { AddCommand } from '../command.ts';
import { printable } from '../context.ts';
import { VERSION } from '../version.ts';

/** As scripts/release.mjs writes it. */
interface Release {
  readonly weir_release: 1;
  readonly version: string;
  readonly date: string;
  readonly migrations: Readonly<Record<'sqlite' | 'postgres', readonly string[]>>;
  readonly packages: readonly { readonly architecture: string; readonly bytes: number; readonly installed_bytes: number }[];
  /** Newest first. */
  readonly changes: readonly { readonly version: string; readonly breaking: readonly string[] }[];
}

/** Exit codes: a newer version; one for which the disk is too small. */
const NEWER = 3;
const TOO_SMALL = 1;
/** ms */
const FETCH_LIMIT = 30_000;
/** The files of the embedded engine that a backup copies. */
const STORED = ['weir.db', 'weir.db-wal', 'stream.db', 'stream.db-wal'];
const ARCHITECTURE: Readonly<Record<string, string>> = { x64: 'amd64' };

const upgradeOptions = (c: Command): Command => c.requiredOption('--check', 'say what an upgrade would change; apt upgrades');

export function upgradeCommand(add: AddCommand): void {
  add('upgrade <repository>', 'compare this weir with the newest of an apt repository, a URL or a folder', upgradeOptions, {
    async run(context, [repository]) {
      const { config } = context;
      const release = await readRelease(repository!);
      const { store } = await schemaOf(config);
      const names = release.migrations[config.databaseUrl === undefined ? 'sqlite' : 'postgres'];
      const isBetween = (version: string) => isNewer(version, VERSION) && !isNewer(version, release.version);
      const disk = diskFor(release, config.databaseUrl === undefined ? config.dataDir : undefined);
      const newer = isNewer(release.version, VERSION);
      context.exitCode = !newer ? 0 : disk.free_bytes !== null && disk.free_bytes < disk.needed_bytes ? TOO_SMALL : NEWER;
      return {
        installed: VERSION,
        available: release.version,
        date: release.date,
        newer,
        breaking: release.changes.filter(({ version }) => isBetween(version)),
        migrations: names.filter((name) => store !== null && name > store),
        disk,
      };
    },
    show({ installed, available, date, newer, breaking, migrations, disk }) {
      if (!newer) return `weir ${installed} is up to date: the repository has ${printable(available)}`;
      const mb = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
      const free = disk.free_bytes === null ? '' : `, ${mb(disk.free_bytes)} are free`;
      return [
        `weir ${printable(available)} of ${printable(date)} is available; this is ${installed}`,
        ...breaking.flatMap(({ version, breaking: items }) => items.map((item) => `breaking in ${printable(version)}: ${printable(item)}`)),
        migrations.length === 0
          ? 'the schema of the store stays: the old version can run again'
          : `migrations: ${migrations.map(printable).join(', ')}. The way back is the backup made before them`,
        `disk: ${mb(disk.needed_bytes)} for packages and the backup${free}`,
      ].join('\n');
    },
  });
}

/** By number: 0.10.0 is newer than 0.9.0. */
const isNewer = (a: string, b: string): boolean => a.localeCompare(b, 'en', { numeric: true }) > 0;

async function readRelease(repository: string): Promise<Release> {
  const where = /^https?:/.test(repository) ? `${repository.replace(/\/$/, '')}/release.json` : join(repository, 'release.json');
  try {
    const text = /^https?:/.test(where) ? await download(where) : readFileSync(where, 'utf8');
    const release = JSON.parse(text) as Release;
    if (release.weir_release === 1) return release;
  } catch (error) {
    throw new WeirError('USAGE', `${where} cannot be read: ${(error as Error).message}`);
  }
  throw new WeirError('USAGE', `${where} describes no release that this weir knows: use a newer weir to compare`);
}

async function download(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_LIMIT) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.text();
}

/** `dataDir` undefined: no backup is made here. `free_bytes` null: the folder does not exist. */
function diskFor({ packages }: Release, dataDir: string | undefined) {
  const own = packages.filter(({ architecture }) => ['all', ARCHITECTURE[process.arch] ?? process.arch].includes(architecture));
  const installed = own.reduce((sum, { bytes, installed_bytes }) => sum + bytes + installed_bytes, 0);
  if (dataDir === undefined) return { needed_bytes: installed, free_bytes: null };
  const sizes = STORED.map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0);
  return { needed_bytes: installed + sizes.reduce((a, b) => a + b), free_bytes: freeIn(dataDir) };
}

function freeIn(folder: string): number | null {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return null;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

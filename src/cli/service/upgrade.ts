/** `weir upgrade --check`: the effects of an upgrade, from the release.json of a repository (SPEC D49.5). */
import { readFileSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { WeirError } from '../../errors.ts';
import { DOWNLOAD_LIMITS, downloadText } from '../../geo/download.ts';
import { parsedJson } from '../../json/json.ts';
import { type Static, Type } from '../../json/schema.ts';
import { attempt } from '../../runtime/data-dir.ts';
import { schemaOf } from '../../runtime/engines.ts';
import { compile } from '../../signal/validate.ts';
import type { AddCommand } from '../command.ts';
import { printable } from '../context.ts';
import { VERSION } from '../version.ts';

const text = Type.String();
const texts = Type.Array(text);
/** As scripts/release.mjs writes it; the newest change is the first. */
const RELEASE = Type.Object({
  ...{ weir_release: Type.Literal(1), version: text, date: text },
  migrations: Type.Object({ sqlite: texts, postgres: texts }),
  packages: Type.Array(Type.Object({ architecture: text, bytes: Type.Number(), installed_bytes: Type.Number() })),
  changes: Type.Array(Type.Object({ version: text, breaking: texts })),
});
type Release = Static<typeof RELEASE>;
const faultsOf = compile(RELEASE);

/** Exit codes: a newer version; one for which the disk is too small. */
const NEWER = 3;
const TOO_SMALL = 1;
const LIMITS = { ...DOWNLOAD_LIMITS, totalMs: 30_000 };
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
  const isAddress = /^https?:\/\//.test(repository);
  if (!isAddress && /^\w+:\/\//.test(repository))
    throw new WeirError('USAGE', `${repository} must begin with https:// or http://, or be a folder`);
  const where = isAddress ? `${repository.replace(/\/$/, '')}/release.json` : join(repository, 'release.json');
  const content = isAddress
    ? await downloadText({ url: where, limits: LIMITS, signal: new AbortController().signal })
    : attempt(`${where} cannot be read`, () => readFileSync(where, 'utf8'));
  if (content === undefined) throw new WeirError('USAGE', `${where} does not exist: name the folder of a release or its repository`);
  const release = parsedJson(content);
  if (faultsOf(release).length === 0) return release as Release;
  throw new WeirError('USAGE', `${where} describes no release that this weir knows: check the address, or use a newer weir`);
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

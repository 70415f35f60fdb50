// The Debian packages: `weir`, for one architecture with its Node, and `weir-geo`, the packaged country and ASN data.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { copyrightOf, IN_DEBIAN } from './copyright.mjs';
import { normalize, pathsIn, put, run, runIn } from './files.mjs';
import { launcherOf, packagesOf } from './tree.mjs';

const HOME = 'usr/lib/weir';
const GEO = 'node_modules/@ip-location-db';
const template = (name) => readFileSync(new URL(`package/${name}`, import.meta.url), 'utf8');
const gzip = (text) => gzipSync(text, { level: 9 });

/** Only root and the service may read it: it has passwords and keys. */
const MODES = { 'etc/weir/weir.env': 0o640 };

const CONTROL = {
  weir: {
    // The libraries that the official Node links, and programs of the maintainer scripts.
    Depends: (geo) =>
      `weir-geo (>= ${geo.version}), libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1, adduser, init-system-helpers (>= 1.54~)`,
    Recommends: 'systemd',
    Description: `security signals in, threat feeds out
 weir is the service between detections and firewalls. It validates and
 stores the addresses that detections block, and publishes them as minimal
 feeds for firewalls, with guard rails, expiry and an audit log.
 .
 The package has its own Node.js and needs no other package source.`,
  },
  'weir-geo': {
    Description: `country and ASN data for weir
 Address ranges of countries and network operators, compiled by
 ip-location-db from data of the regional Internet registries, Route Views
 and DB-IP. weir reads them when no newer data is configured.`,
  },
};

/** Builds one package from `folder`; returns its facts. */
function build(release, name, version, architecture, folder, out, geo) {
  const { Depends, ...fields } = CONTROL[name];
  const changelog = `${name} (${version}) unstable; urgency=medium\n\n  * CHANGELOG.md in ${HOME} has the changes.\n\n -- ${release.maintainer}  ${run('date', '-u', '-R', `-d@${release.epoch}`).trim()}\n`;
  put(folder, `usr/share/doc/${name}/changelog.gz`, gzip(changelog));
  normalize(folder, release.epoch, MODES);
  const files = [...pathsIn(folder)].filter(({ path }) => !path.startsWith('DEBIAN'));
  const installedBytes = files.reduce((sum, { entry }) => sum + (entry.isFile() ? Math.ceil(entry.size / 1024) : 1) * 1024, 0);
  const control = {
    Package: name,
    Version: version,
    Architecture: architecture,
    Maintainer: release.maintainer,
    'Installed-Size': installedBytes / 1024,
    ...(Depends && { Depends: Depends(geo) }),
    Section: 'net',
    Priority: 'optional',
    ...fields,
  };
  put(
    folder,
    'DEBIAN/control',
    Object.entries(control)
      .map(([key, value]) => `${key}: ${value}\n`)
      .join(''),
  );
  const sums = files.filter(({ entry }) => entry.isFile()).filter(({ path }) => !path.startsWith('etc/'));
  const md5 = ({ path }) =>
    createHash('md5')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  put(folder, 'DEBIAN/md5sums', sums.map((each) => `${md5(each)}  ${each.path}\n`).join(''));
  normalize(join(folder, 'DEBIAN'), release.epoch);
  const file = `${name}_${version}_${architecture}.deb`;
  process.env.SOURCE_DATE_EPOCH = release.epoch;
  // One thread: xz of several makes other bytes.
  run('dpkg-deb', '--root-owner-group', '-Zxz', '-z6', '--threads-max=1', '--build', folder, join(out, file));
  return { name, file, architecture, version, installedBytes, bytes: statSync(join(out, file)).size };
}

export function geoPackage(release, { root }, folder, out) {
  const target = join(folder, HOME, GEO);
  cpSync(join(root, GEO), target, { recursive: true, preserveTimestamps: true });
  const { version } = JSON.parse(readFileSync(join(target, 'asn/package.json'), 'utf8'));
  // The day of the data: 2.3.2026061719 is of 2026-06-17.
  const [, date] = /\.(\d{8})\d\d$/.exec(version);
  put(folder, 'usr/share/doc/weir-geo/copyright', `${readFileSync(join(root, 'NOTICE'), 'utf8')}\n${IN_DEBIAN}\n\n${licencesOf(target)}`);
  put(folder, 'DEBIAN/postinst', template('weir-geo.postinst'), 0o755);
  // The time of the data, not of the commit: releases with equal data have this package with equal bytes.
  return build(
    { ...release, epoch: Date.parse(`${date.replace(/(\d{4})(\d\d)/, '$1-$2-')}T00:00:00Z`) / 1000 },
    'weir-geo',
    date,
    'all',
    folder,
    out,
  );
}

const licencesOf = (folder) =>
  [...pathsIn(folder)]
    .filter(({ path }) => /LICENSE|MODIFICATIONS/.test(path))
    .map(({ path }) => `${path}\n\n${readFileSync(join(folder, path), 'utf8').trim()}\n`)
    .join('\n');

/** The unit of deploy/, with the folder that postinst makes for this version. */
const unitOf = ({ commit, version }) =>
  run('git', 'show', `${commit}:deploy/weir.service`)
    .replaceAll('/opt/weir', `/${HOME}/running/${version}`)
    .replace(/^Environment=/m, `Environment=WEIR_COMMIT=${commit.slice(0, 12)} `);

/** The settings file: those of .env.example but the ones that the package sets. */
const settingsOf = ({ commit }) =>
  template('weir.env') +
  run('git', 'show', `${commit}:.env.example`)
    .replace(/^[\s\S]*?(?=^# HOST=)/m, '')
    .replace(/^# (?:HOST|PORT|REUSE_PORT|DATA_DIR)=.*\n/gm, '');

export function weirPackage(release, { arch, root }, geo, folder, out) {
  const home = join(folder, HOME);
  mkdirSync(home, { recursive: true });
  cpSync(root, home, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: (path) => !path.endsWith(GEO) });
  put(folder, 'usr/bin/weir', launcherOf(release, 'package'), 0o755);
  put(folder, 'usr/lib/systemd/system/weir.service', unitOf(release));
  put(folder, 'usr/lib/systemd/system/weir.socket', run('git', 'show', `${release.commit}:deploy/weir.socket`));
  put(folder, 'etc/weir/weir.env', settingsOf(release), 0o640);
  put(folder, 'DEBIAN/conffiles', '/etc/weir/weir.env\n');
  put(
    folder,
    'usr/share/doc/weir/copyright',
    copyrightOf(
      root,
      [...packagesOf(root)].filter(({ path }) => !path.startsWith(GEO)),
    ),
  );
  for (const name of ['NOTICE', 'CHANGELOG.md', 'README.md', 'docs'])
    symlinkSync(`../../../lib/weir/${name}`, join(folder, 'usr/share/doc/weir', name));
  put(folder, 'usr/share/lintian/overrides/weir', template('lintian-overrides'));
  for (const [path, text] of Object.entries(commandFiles(root))) put(folder, path, path.endsWith('.gz') ? gzip(text) : text);
  for (const script of ['preinst', 'postinst', 'prerm', 'postrm'])
    put(
      folder,
      `DEBIAN/${script}`,
      template(`weir.${script}`).replace('@BACKUP@\n', template('backup.sh')).replaceAll('@VERSION@', release.version),
      0o755,
    );
  return build(release, 'weir', release.version, arch, folder, out, geo);
}

/** The man page and the completions, by the commands of this tree: read by its own Node if this machine runs it. */
function commandFiles(root) {
  const own = [...packagesOf(root)].find(({ name }) => name === `node-linux-${process.arch}`);
  const node = own === undefined ? process.execPath : join(root, own.path, 'bin/node');
  return JSON.parse(runIn(root, node, fileURLToPath(new URL('commands.mjs', import.meta.url)), root));
}

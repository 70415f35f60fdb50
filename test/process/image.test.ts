/**
 * The image, built and run where a builder is that has its base already (`docker pull node:24.21.0-slim`): no other test needs a registry of
 * images, so that this one is left out elsewhere, with CI set, too.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import about from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TAG = 'weir-test-image';
const [, BASE] = /^ARG BASE=(.*)$/m.exec(readFileSync(`${ROOT}Dockerfile`, 'utf8'))!;
/** MB of the folder of weir, as docs/deployment.md tells them. */
const MOST_MB = 160;

interface ImageConfig {
  readonly User: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Volumes: object;
}

async function call(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: ROOT, maxBuffer: 1 << 26 });
  return stdout;
}

interface Builder {
  readonly build: (...args: string[]) => Promise<unknown>;
  readonly config: () => Promise<ImageConfig>;
  readonly shell: (script: string) => Promise<string>;
}

/** One that runs containers as an operator does. */
const engine = (program: string): Builder => ({
  build: (...args) => call(program, 'build', ...args),
  config: async () => JSON.parse(await call(program, 'image', 'inspect', TAG))[0].Config,
  shell: (script) => call(program, 'run', '--rm', TAG, 'sh', '-ec', script),
});

const BUILDERS: Readonly<Record<string, Builder>> = {
  docker: engine('docker'),
  podman: engine('podman'),
  // Also in a sandbox that lets nobody make containers.
  buildah: {
    build: (...args) => call('buildah', 'bud', '--isolation', 'chroot', '--format', 'docker', ...args),
    config: async () => JSON.parse(await call('buildah', 'inspect', '--type', 'image', TAG)).Docker.config,
    async shell(script) {
      const container = (await call('buildah', 'from', TAG)).trim();
      try {
        return await call('buildah', 'run', '--isolation', 'chroot', container, '--', 'sh', '-ec', script);
      } finally {
        await call('buildah', 'rm', container);
      }
    },
  },
};

const LOOKS: Readonly<Record<string, readonly string[]>> = {
  docker: ['image', 'inspect', BASE],
  podman: ['image', 'exists', BASE],
  buildah: ['inspect', '--type', 'image', BASE],
};

/** The first that is asked for, or there, and has the base image. */
const found = Object.keys(BUILDERS).find(
  (name) =>
    (process.env.TEST_IMAGE_BUILDER ?? name) === name && spawnSync(name, LOOKS[name]!, { stdio: 'ignore', timeout: 10_000 }).status === 0,
);

const SCRIPT = `
node src/main.ts --version; id -un; stat -c '%U %a' /data; du -sm /app | cut -f1; node -p 'require("/app/sbom.cdx.json").bomFormat'
node --max-semi-space-size=8 src/main.ts serve > /tmp/out 2>&1 & trap "kill $!" EXIT
for i in $(seq 100); do if node -e "$HEALTH"; then echo healthy; exit; fi; sleep 0.2; done; cat /tmp/out; exit 1`;

/** A test where there is a builder; a line that names what is missing where there is none, which is no skip. */
const whereBuilt: (name: string, run: () => Promise<void>) => unknown =
  found === undefined ? (name) => console.log(`${name}: not tried, no docker, podman or buildah has ${BASE}`) : test;

whereBuilt('D26.6 the image is built, tells what it is, and is healthy as the user without rights that it runs as', async () => {
  const { build, config, shell } = BUILDERS[found!]!;
  await build('--network', 'host', '--build-arg', 'COMMIT=0123456789ab', '-t', TAG, '.');
  const { User, Labels, Healthcheck, Volumes } = await config();
  assert.deepEqual([User, Object.keys(Volumes), Healthcheck.Test.slice(0, 3)], ['node', ['/data'], ['CMD', 'node', '-e']]);
  const label = (name: string) => Labels[`org.opencontainers.image.${name}`];
  assert.deepEqual(['title', 'version', 'licenses', 'revision', 'base.name'].map(label), [
    'weir',
    about.version,
    about.license,
    '0123456789ab',
    BASE,
  ]);
  const health = Healthcheck.Test[3]!.replaceAll("'", "'\\''");
  const lines = (await shell(`HEALTH='${health}'${SCRIPT}`)).trim().split('\n');
  const [version, user, data, size, sbom, state] = lines;
  assert.deepEqual([version, user, data, sbom, state], [`${about.version} (0123456789ab)`, 'node', 'node 700', 'CycloneDX', 'healthy']);
  assert.ok(Number(size) <= MOST_MB, `${size} MB`);
});

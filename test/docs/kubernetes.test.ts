/** The manifests of deploy/kubernetes: of the shape that the API takes, hardened, and with settings that weir has. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig, SETTINGS } from '../../src/config.ts';
import { ROLES } from '../../src/settings/setting.ts';
import { installModule, pythonEnv, withoutModule } from '../support/pypi.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/kubernetes/', import.meta.url));
const FILES = globSync('*.yaml', { cwd: FOLDER }).sort();
const OBJECTS = FILES.filter((file) => file !== 'kustomization.yaml');
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');

/** The schemas of the API, by version. */
const VALIDATE = {
  module: 'kubernetes_validate',
  packages: [
    'kubernetes-validate==1.37.0',
    'attrs==26.1.0',
    'importlib_resources==7.1.0',
    'jsonschema==4.26.0',
    'jsonschema-specifications==2025.9.1',
    'packaging==26.3',
    'PyYAML==6.0.3',
    'referencing==0.37.0',
    'rpds-py==2026.9.1',
    'typing_extensions==4.16.0',
  ],
};

for (const version of ['1.30', '1.37']) {
  test(`D26.4 the manifests are what the API of Kubernetes ${version} takes`, { skip: withoutModule(VALIDATE) }, async ({ signal }) => {
    await installModule(VALIDATE, signal);
    const run = ['-c', 'from kubernetes_validate.__main__ import main; main()', '--strict', '-k', version, ...OBJECTS];
    await promisify(execFile)('python3', run, { cwd: FOLDER, env: pythonEnv(VALIDATE), signal });
  });
}

test('D26.4 the kustomization names every manifest, and its settings are settings', () => {
  const named = [...read('kustomization.yaml').matchAll(/^ {2}- (\S+\.yaml)$/gm)].map(([, name]) => name).sort();
  assert.deepEqual(named, OBJECTS);
  const settings = Object.fromEntries(
    read('settings.env')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
  const known = new Set(Object.values(SETTINGS).map(({ variable }) => variable));
  for (const name of Object.keys(settings)) assert.ok(known.has(name), name);
  const secrets = { DATABASE_URL: 'postgres://weir@db/weir', BOOTSTRAP_API_KEY: 'a'.repeat(32) };
  assert.ok('config' in readConfig({ ...settings, ...secrets, METRICS_PORT: '9090' }));
});

test('D26.4 each deployment has one role or more, probes, and no right that it does not need', () => {
  const deployments = OBJECTS.map(read).filter((text) => text.includes('kind: Deployment'));
  const roles = deployments.flatMap((text) => /name: ROLES, value: "([^"]+)"/.exec(text)![1].split(','));
  assert.deepEqual(roles.sort(), ROLES.toSorted());
  for (const text of deployments) {
    for (const line of [
      'runAsNonRoot: true',
      'readOnlyRootFilesystem: true',
      'allowPrivilegeEscalation: false',
      'drop: [ALL]',
      'automountServiceAccountToken: false',
      'startupProbe:',
      'livenessProbe:',
      'readinessProbe:',
      'kind: PodDisruptionBudget',
      'maxUnavailable: 0',
      'limits: { memory:',
    ])
      assert.ok(text.includes(line), line);
    // A process whose store is away must neither be ended for it, nor, where it serves feeds, be asked no more.
    assert.doesNotMatch(/livenessProbe:[\s\S]*?periodSeconds/.exec(text)![0], /readyz/);
    if (text.includes('feeds')) assert.doesNotMatch(/readinessProbe:[\s\S]*?periodSeconds/.exec(text)![0], /readyz/);
  }
});

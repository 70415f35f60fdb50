import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../account/list.ts';
import { NO_WORKSPACE_SETTINGS } from '../../account/workspace.ts';
import { LIST_LINE, SETTINGS_LINE } from './workspace-line.ts';

const ID = '018f0000-0000-7000-8000-000000000001';

test('D4.11 a list of a file that an older weir has written has no setting that is younger', () => {
  const list = { ...NO_SETTINGS, id: ID, name: 'edge', description: null, isDefault: false, family: 'v4' };
  const { subtract_allow, ...older } = LIST_LINE.write(list) as Record<string, unknown>;
  assert.equal(subtract_allow, null);
  assert.deepEqual(LIST_LINE.read(older), list);
  assert.deepEqual(LIST_LINE.read({ ...older, subtract_allow: 'workspace' }), { ...list, subtractAllow: 'workspace' });
  assert.match(String(LIST_LINE.read({ ...older, subtract_allow: 'yes' })), /^subtract_allow: must be one of: on, workspace, off/);
});

test('D7.5 what is set of a workspace is read as it was written, and nothing else', () => {
  const settings = {
    protect: ['self', '10.0.0.0/8'],
    minPrefixV4: 8,
    minPrefixV6: 19,
    subtractAllow: 'on',
    people: [{ role: 'operator', group: 'soc', provider: 'keycloak' }],
    large: 'all',
    largeAddresses: 256,
    largeNetworks: null,
    largePercent: 50,
    approval: 'changes',
    approvalAddresses: null,
    approvalRules: 1000,
    approvalPercent: 40,
    canaryKeys: 'lab-1, lab-2',
    canaryMinutes: 5,
  } as const;
  const line = SETTINGS_LINE.write(settings) as Record<string, unknown>;
  assert.deepEqual(SETTINGS_LINE.read(line), settings);
  assert.deepEqual(SETTINGS_LINE.read(SETTINGS_LINE.write(NO_WORKSPACE_SETTINGS)), NO_WORKSPACE_SETTINGS);
  const faults: [field: string, value: unknown, says: string][] = [
    ['protect', ['10.0.0.1/8'], 'protect: must not hold "10.0.0.1/8"'],
    ['protect', ['public'], 'protect: must not hold "public"'],
    ['protect', undefined, 'protect: is required'],
    ['min_prefix_v4', 33, 'min_prefix_v4: must be an integer from 0 to 32'],
    ['min_prefix_v6', -1, 'min_prefix_v6: must be an integer from 0 to 128'],
    ['subtract_allow', 'workspace', 'subtract_allow: must be one of: on, off'],
    ['large', 'some', 'large: must be one of: none, changes, all'],
    ['large_percent', 101, 'large_percent: must be an integer from 1 to 100'],
  ];
  for (const [field, value, says] of faults) assert.equal(SETTINGS_LINE.read({ ...line, [field]: value }), says);
});

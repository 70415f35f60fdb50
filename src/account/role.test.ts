import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allows, PERMISSIONS, type Permission } from './permission.ts';
import { ROLE_NAMES, ROLES, roleOf } from './role.ts';

const may = (role: keyof typeof ROLES) => PERMISSIONS.filter((permission) => allows(ROLES[role], permission));

test('D24.1 each role includes the one before it, an operator neither manages nor makes keys, an admin may all', () => {
  assert.deepEqual(may('viewer'), ['feed:read', 'rules:read', 'config:read']);
  assert.deepEqual(may('operator'), ['signal:write', 'feed:read', 'rules:read', 'config:read', 'rules:write']);
  assert.deepEqual(may('admin'), [...PERMISSIONS]);
  for (const [at, role] of ROLE_NAMES.slice(1).entries()) {
    for (const permission of may(ROLE_NAMES[at]!)) assert.ok(may(role).includes(permission), `${role} may ${permission}`);
  }
});

test('D24.1 permissions are a role where they allow exactly what it allows, in whatever order and with what is included', () => {
  for (const role of ROLE_NAMES) assert.equal(roleOf(ROLES[role].toReversed()), role);
  const written: [Permission[], ReturnType<typeof roleOf>][] = [
    [['rules:write', 'feed:read', 'config:read', 'signal:write'], 'operator'],
    [['manage', 'keys:write', 'feed:read', 'config:read', 'signal:write'], 'admin'],
    [['manage', 'feed:read', 'config:read', 'signal:write'], null],
    [['feed:read'], null],
    [['signal:write', 'feed:read'], null],
    [[], null],
  ];
  for (const [permissions, role] of written) assert.equal(roleOf(permissions), role, permissions.join(' '));
});

import { PERMISSIONS } from '../../account/permission.ts';
import { ROLE_NAMES, roleOf } from '../../account/role.ts';
import { WeirError } from '../../errors.ts';
import { answerOf, nullable, Type } from '../../json/schema.ts';
import { type Operation, operation } from '../operation.ts';

export const WHOAMI_OPERATIONS: readonly Operation[] = [
  operation('whoAmI', 'GET /whoami', null, {
    summary: 'Get the caller and the workspace',
    answer: answerOf('Caller', {
      key_id: ['0195a3c0-0000-7000-8000-000000000002', nullable(Type.String())],
      actor: ['Jana Novák', nullable(Type.String(), { description: 'The value of X-Actor, or the name given by a provider.' })],
      person: [null, nullable(Type.String(), { description: 'The provider and its id of the person.' })],
      permissions: [['rules:read', 'manage'], Type.Array(Type.Enum([...PERMISSIONS]))],
      role: [null, nullable(Type.Enum([...ROLE_NAMES]), { description: 'The role with exactly these permissions.' })],
      workspace: { id: '0195a3c0-0000-7000-8000-000000000000', name: 'default' },
    }),
    async run({ store, workspaceId, by, permissions: held }) {
      const workspace = await store.workspace(workspaceId);
      if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
      const { id, name } = workspace;
      const permissions = held ?? PERMISSIONS;
      return {
        key_id: by.keyId,
        actor: by.actor,
        person: by.personId ?? null,
        permissions,
        role: roleOf(permissions),
        workspace: { id, name },
      };
    },
  }),
];

import { ROLE_NAMES } from '../../../account/role.ts';
import { isoTime } from '../../../clock.ts';
import { answerOf, type Fields, listOf, Type } from '../../../json/schema.ts';
import { AUDIT_RETENTION } from '../../../ports/stored/account-store.ts';
import type { SeenPerson } from '../../../ports/stored/session-store.ts';
import { inWords } from '../../../text/duration.ts';
import { type Operation, operation } from '../../operation.ts';

export const personJson = ({ id, name, role, lastSeen }: SeenPerson) => ({ id, name, role, last_seen: isoTime(lastSeen) });

const PERSON = {
  id: ['keycloak:248289761001', 'The provider and its id of the person.'],
  name: 'Jana Novák',
  role: ['operator', Type.Enum([...ROLE_NAMES], { description: 'Their role at that time.' })],
  last_seen: '2026-11-22T09:59:31.000Z',
} as const satisfies Fields;

export const PEOPLE_OPERATIONS: readonly Operation[] = [
  operation('listPeople', 'GET /people', 'manage', {
    summary: `List people of the last ${inWords(AUDIT_RETENTION)}, as named by providers`,
    answer: answerOf('People', { people: listOf(PERSON) }),
    run: async ({ store, workspaceId }) => ({ people: (await store.people(workspaceId)).map(personJson) }),
  }),
];

/** Codes with which Linux hosts get a key (SPEC D52). */
import { randomUUID } from 'node:crypto';
import {
  CODE_LIFETIME,
  codeHash,
  ENROLLED_DRIVERS,
  type EnrolledDriver,
  type Enrolment,
  enrolmentCommand,
  MOST_CODES,
  newCode,
} from '../../../account/enrolment.ts';
import { bindingFault, type KeyInfo, MOST_NETWORKS } from '../../../account/key.ts';
import { nameFault } from '../../../account/name.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { answerOf, durationOf, type Fields, listOf, nullable, Type, wordField } from '../../../json/schema.ts';
import { LIMITS } from '../../../signal/limits.ts';
import { inWords } from '../../../text/duration.ts';
import { changeOptions, type ManageContext } from '../../context.ts';
import { anyFeedId } from '../../find.ts';
import { refuseBeyond } from '../../keys/bounds.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { canonicalNetworks } from './keys.ts';

/** Neither the code nor the line is stored. */
type MadeEnrolment = Enrolment & { readonly code?: string; readonly command?: string };

interface Wanted {
  readonly name: string;
  readonly feed: string;
  readonly from?: readonly string[];
  readonly driver?: EnrolledDriver;
  readonly expires_in?: number;
}

const PERMISSIONS = ['feed:read'] as const;
export const NO_ORIGIN = 'hosts reach this service over plain HTTP, and a key must not be sent that way: set BASE_URL to an https address';

/** Rejects with USAGE, REFUSED, NOT_FOUND and FORBIDDEN. */
async function createEnrolment(context: ManageContext, { name, feed, from = [], driver = 'nftables', expires_in }: Wanted) {
  const { store, workspaceId, origin, now } = context;
  const fault = nameFault(name);
  if (fault !== null) throw fieldFault('name', fault);
  const networks = canonicalNetworks(from);
  const keyExpiresAt = expires_in === undefined ? null : now() + expires_in * 1000;
  refuseBeyond(context, { permissions: PERMISSIONS, expiresAt: keyExpiresAt, networks });
  if (origin === undefined) throw new WeirError('REFUSED', NO_ORIGIN);
  const id = await anyFeedId(store, workspaceId, feed);
  const isComposed = (await store.feed(workspaceId, id)) !== undefined;
  const bound = { listId: isComposed ? null : id, feedId: isComposed ? id : null };
  const binding = bindingFault({ permissions: PERMISSIONS, ...bound });
  if (binding !== null) throw new WeirError('USAGE', binding);
  const code = newCode();
  const made = await store.createEnrolment(
    workspaceId,
    { id: randomUUID(), hash: codeHash(code), name, ...bound, networks, keyExpiresAt },
    changeOptions(context),
  );
  return { ...made, code, command: enrolmentCommand(origin, code, driver) };
}

export const enrolmentJson = ({ id, name, listId, feedId, networks, keyExpiresAt, createdAt, expiresAt }: Enrolment) => ({
  id,
  name,
  feed_id: listId ?? feedId,
  from: networks,
  key_expires_at: isoTime(keyExpiresAt),
  created_at: isoTime(createdAt),
  expires_at: isoTime(expiresAt),
});

const ENROLMENT = {
  id: '0195a3c0-0000-7000-8000-000000000005',
  name: 'gw-1',
  feed_id: ['0195a3c0-0000-7000-8000-000000000001', Type.String()],
  from: [['198.51.100.7/32'], Type.Array(Type.String(), { description: 'The networks of the host; empty: any.' })],
  key_expires_at: [null, nullable(Type.String(), { description: 'The end of the key; null: none.' })],
  created_at: '2026-11-20T10:00:00.000Z',
  expires_at: ['2026-11-20T10:10:00.000Z', 'The end of the code.'],
} as const satisfies Fields;
const CODE_TEXT = 'b7Qe0yX4cT1mJ9sK2vWfRz8LhUdGpN3A';
const once = { description: 'Returned only once; null: this is a repeated response.' };
const NewEnrolment = answerOf('NewEnrolment', {
  ...ENROLMENT,
  code: [CODE_TEXT, nullable(Type.String(), once)],
  command: [`curl -fsS 'https://weir.example.com/enroll/${CODE_TEXT}' | sh`, nullable(Type.String(), once)],
});

const expectedJson = ({ id, name, listId, feedId, networks, createdAt }: KeyInfo) => ({
  key_id: id,
  key_name: name,
  feed_id: listId ?? feedId,
  from: networks,
  created_at: isoTime(createdAt),
});
export type ExpectedDevice = ReturnType<typeof expectedJson>;
/** Of an answer. */
const MOST_EXPECTED = 100;

export const ENROLMENT_OPERATIONS: readonly Operation[] = [
  operation('listEnrolments', 'GET /enrolments', 'keys:write', {
    summary: 'List the open enrolment codes, newest first',
    answer: answerOf('Enrolments', { enrolments: listOf(ENROLMENT) }),
    async run({ store, workspaceId, now }) {
      return { enrolments: (await store.enrolments(workspaceId, now())).map(enrolmentJson) };
    },
  }),
  operation('createEnrolment', 'POST /enrolments', 'keys:write', {
    summary: 'Create a code with which a Linux host gets its key and weir-follow',
    description: `The code is valid for ${inWords(CODE_LIFETIME)} and for one host. Its key can only read the feed. A key cannot create more than a key could (403). ${MOST_CODES} codes can be open.`,
    body: Type.Object({
      name: Type.String({ format: 'name', description: 'The name of the host and of its key.' }),
      feed: Type.String({ format: 'text', maxLength: 200, description: 'UUID or name of a list or feed.' }),
      from: Type.Optional(
        Type.Array(Type.String({ format: 'network' }), {
          maxItems: MOST_NETWORKS,
          description: 'The addresses of the host, such as 198.51.100.7: code and key are rejected from others. Empty: any.',
        }),
      ),
      driver: wordField(ENROLLED_DRIVERS, 'The packet filter of the host; default: nftables.'),
      expires_in: Type.Optional(
        durationOf('s', 'Lifetime of the key, seconds; default: no end', { minimum: 1, maximum: LIMITS.expirySeconds }),
      ),
    }),
    answer: NewEnrolment,
    audit: 'enrolment created',
    creates: 'in_store',
    refusals: { 404: 'there is no list or feed "edge"', 409: NO_ORIGIN },
    examples: [{ name: 'gw-1', feed: 'edge', from: ['198.51.100.7'] }],
    run: (context, { body }): Promise<MadeEnrolment> => createEnrolment(context, body),
    status: 201,
    show: (made) => ({ body: { ...enrolmentJson(made), code: made.code ?? null, command: made.command ?? null } }),
  }),
  operation('revokeEnrolment', 'DELETE /enrolments/{enrolment}', 'keys:write', {
    summary: 'Revoke an open enrolment code',
    answer: answerOf('RevokedEnrolment', { id: ENROLMENT.id, revoked: true }),
    audit: 'enrolment revoked',
    refusals: { 404: 'there is no enrolment "0195a3c0-0000-7000-8000-000000000009"' },
    async run(context, { params }) {
      await context.store.revokeEnrolment(context.workspaceId, params.enrolment!, changeOptions(context));
      return { id: params.enrolment!, revoked: true };
    },
  }),
  operation('listExpectedDevices', 'GET /devices/expected', 'rules:read', {
    summary: 'List the devices that are expected: keys for feeds that nobody has used',
    description: `Valid keys with no permission but feed:read, newest first, at most ${MOST_EXPECTED}.`,
    answer: answerOf('ExpectedDevices', {
      devices: listOf({
        key_id: ['0195a3c0-0000-7000-8000-000000000002', Type.String()],
        key_name: ['gw-1', nullable(Type.String())],
        feed_id: ['0195a3c0-0000-7000-8000-000000000001', nullable(Type.String({ description: "null: the workspace's feed." }))],
        from: ENROLMENT.from,
        created_at: '2026-11-20T10:00:00.000Z',
      }),
    }),
    async run({ store, workspaceId, now }) {
      return { devices: (await store.unusedFeedKeys(workspaceId, now(), MOST_EXPECTED)).map(expectedJson) };
    },
  }),
];

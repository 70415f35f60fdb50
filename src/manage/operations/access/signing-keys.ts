/** SPEC D63. */
import { randomUUID } from 'node:crypto';
import { allowedSigner, newSigningKey, type SigningKey } from '../../../account/secrets/signature.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { answerOf, listOf, Type } from '../../../json/schema.ts';
import { changeOptions } from '../../context.ts';
import { type Operation, operation } from '../../operation.ts';

const KEY = {
  id: '0195a3c0-0000-7000-8000-000000000051',
  allowed_signer: 'weir namespaces="weir-feed" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO3p7mQ4m0dcS0jTzLKEXxVQ8e1yN9D1cX4mJ1bZ2b3c',
  created_at: '2026-11-20T10:00:00.000Z',
};
const NO_KEY = 'signing keys are stored encrypted, but the service has no key for that: its operator has to set SECRETS_KEY';

export const signingKeyJson = (key: SigningKey) => ({
  id: key.id,
  allowed_signer: allowedSigner(key),
  created_at: isoTime(key.createdAt),
});

export const SIGNING_OPERATIONS: readonly Operation[] = [
  operation('listSigningKeys', 'GET /signing-keys', null, {
    summary: 'List the keys that sign feeds, oldest first',
    description: 'The oldest signs. The lines `allowed_signer` are the file that `ssh-keygen -Y verify -f` reads.',
    answer: answerOf('SigningKeys', { signing_keys: listOf({ ...KEY, signs: true }) }),
    run: async ({ store, workspaceId }) => ({
      signing_keys: (await store.signingKeys(workspaceId)).map((key, index) => ({ ...signingKeyJson(key), signs: index === 0 })),
    }),
  }),
  operation('createSigningKey', 'POST /signing-keys', 'manage', {
    summary: 'Create a key that signs feeds',
    description: 'The first key signs at once. A second one signs when the first is deleted: give it to all verifiers before.',
    body: Type.Object({}),
    answer: answerOf('SigningKey', KEY),
    audit: 'signing key created',
    creates: 'in_store',
    refusals: { 409: NO_KEY },
    examples: [{}],
    run(context) {
      const { store, workspaceId, secretKeys } = context;
      if (secretKeys.length === 0) throw new WeirError('REFUSED', NO_KEY);
      return store.createSigningKey(workspaceId, { id: randomUUID(), ...newSigningKey(secretKeys, workspaceId) }, changeOptions(context));
    },
    status: 201,
    show: (key) => ({ body: signingKeyJson(key) }),
  }),
  operation('deleteSigningKey', 'DELETE /signing-keys/{signing_key}', 'manage', {
    summary: 'Delete a signing key; the other one signs from now on',
    answer: answerOf('SigningKeyDeletion', { id: KEY.id, deleted: true }),
    audit: 'signing key deleted',
    refusals: { 404: 'there is no such signing key' },
    async run(context, { params }) {
      const id = params.signing_key!.toLowerCase();
      await context.store.deleteSigningKey(context.workspaceId, id, changeOptions(context));
      return { id, deleted: true };
    },
  }),
];

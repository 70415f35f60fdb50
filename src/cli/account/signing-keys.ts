import type { signingKeyJson } from '../../manage/operations/access/signing-keys.ts';
import { type AnyRow, row } from '../rows/row.ts';

type SigningKey = ReturnType<typeof signingKeyJson>;

export const SIGNING_ROWS: readonly AnyRow[] = [
  row<(SigningKey & { readonly signs: boolean })[]>({
    words: 'signing-key ls',
    operation: 'listSigningKeys',
    summary: 'list the keys that sign the feeds of a workspace',
    columns: { ID: 'id', SIGNS: (each) => (each.signs ? 'yes' : 'no'), CREATED: 'created_at', 'ALLOWED SIGNER': 'allowed_signer' },
  }),
  row<SigningKey>({
    words: 'signing-key add',
    operation: 'createSigningKey',
    summary: 'create a key that signs feeds; the oldest key signs',
    show: ({ allowed_signer: line }) => line,
  }),
  row<{ readonly id: string }>({
    words: 'signing-key rm <signing_key>',
    operation: 'deleteSigningKey',
    summary: 'delete a signing key; the other one signs from now on',
    show: ({ id }) => `signing key ${id} is deleted`,
  }),
];

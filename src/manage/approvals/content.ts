/** The stored content of an operation that waits (SPEC D67.6): files of a workspace contain secrets. */
import { openSecret, sealSecret } from '../../account/secrets/encrypted-secret.ts';
import type { ManageContext } from '../context.ts';
import { pack, unpack } from '../imports/pack.ts';

type Parts = Pick<ManageContext, 'secretKeys' | 'workspaceId'>;

const ownerOf = (workspaceId: string) => ({ id: workspaceId, url: 'weir:approval' });

/** Encrypted if the service has a key; without one it accepts no secrets. */
export async function closed({ secretKeys, workspaceId }: Parts, text: string): Promise<Uint8Array> {
  const packed = await pack(text);
  return secretKeys.length === 0 ? packed : sealSecret(secretKeys, ownerOf(workspaceId), packed.toString('base64'));
}

/** Rejects if its key is missing. */
export async function opened({ secretKeys, workspaceId }: Parts, content: Uint8Array): Promise<string> {
  const packed = openSecret(secretKeys, ownerOf(workspaceId), content);
  return (await unpack(packed === undefined ? content : Buffer.from(packed, 'base64'))).toString();
}

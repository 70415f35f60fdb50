/** The follower and its unit, in the version of the service (SPEC D51.13). */
import { readFile } from 'node:fs/promises';
import { NO_SNIFFING } from './answer.ts';
import type { Answered, Call } from './call.ts';

const FILES: Readonly<Record<string, URL>> = {
  'weir-follow': new URL('../../integrations/weir-follow', import.meta.url),
  'weir-follow.service': new URL('../../deploy/weir-follow.service', import.meta.url),
};
const HEADERS = ['Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-cache', ...NO_SNIFFING];

export async function integration({ params }: Call): Promise<Awaited<Answered>> {
  const name = params['*']!;
  if (!Object.hasOwn(FILES, name)) return { status: 404 };
  const body = await readFile(FILES[name]!);
  return { status: 200, headers: [...HEADERS, 'Content-Length', String(body.length)], body };
}

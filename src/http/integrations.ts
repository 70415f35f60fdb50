/** The follower and its unit, in the version of the service (SPEC D51.13). */
import { readFileSync } from 'node:fs';
import type { Answered, Call } from './call.ts';
import { fileAnswer, fileOf } from './files.ts';

const FILES: Readonly<Record<string, URL>> = {
  'weir-follow': new URL('../../integrations/weir-follow', import.meta.url),
  'weir-follow.service': new URL('../../deploy/weir-follow.service', import.meta.url),
};
const REVALIDATED = ['Cache-Control', 'no-cache'];

/** Reads the files once. */
export function integrations(): (call: Call) => Answered {
  const files = new Map(Object.entries(FILES).map(([name, url]) => [name, fileOf('text/plain; charset=utf-8', readFileSync(url))]));
  return (call) => {
    const file = files.get(call.params['*']!);
    return file === undefined ? { status: 404 } : fileAnswer(call, file, REVALIDATED);
  };
}

/** Programs for hosts, in the version of the service (SPEC D51.13, D63.5). */
import { readFileSync } from 'node:fs';
import type { Answered, Call } from './call.ts';
import { type File, fileAnswer, fileOf } from './files.ts';

const FILES: Readonly<Record<string, URL>> = {
  'weir-fetch': new URL('../../integrations/weir-fetch', import.meta.url),
  'weir-follow': new URL('../../integrations/weir-follow', import.meta.url),
  'weir-follow.service': new URL('../../deploy/weir-follow.service', import.meta.url),
};
const REVALIDATED = ['Cache-Control', 'no-cache'];

/** Reads each file once, when it is first fetched: a start needs none. */
export function integrations(): (call: Call) => Answered {
  const files = new Map<string, File>();
  return (call) => {
    const name = call.params['*']!;
    if (!Object.hasOwn(FILES, name)) return { status: 404 };
    const file = files.get(name) ?? fileOf('text/plain; charset=utf-8', readFileSync(FILES[name]!));
    files.set(name, file);
    return fileAnswer(call, file, REVALIDATED);
  };
}

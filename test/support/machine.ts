import { delimiter } from 'node:path';
import { SETTINGS } from '../../src/config.ts';

/** The machine's environment, without the settings of weir and without this checkout's Node and npm run. */
export function machine(): NodeJS.ProcessEnv {
  const settings = new Set(Object.values(SETTINGS).map(({ variable }) => variable));
  const own = /^(NODE.*|INIT_CWD|npm_(package_.*|lifecycle_.*|command|execpath|node_execpath|config_local_prefix))$/;
  const kept = Object.entries(process.env).filter(([name]) => !settings.has(name) && !own.test(name));
  const path = process.env.PATH!.split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) };
}

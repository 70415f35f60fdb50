import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const NPM = /(?<="name": "(?:weir|@weir\/\w+)",\s+"version": "|"@weir\/\w+": ")[^"]+/g;

/** Every file that names the version, and a pattern that matches only the version there. */
export const PLACES = [
  ...globSync(['package{,-lock}.json', 'packages/*/package.json'], { cwd }).map((file) => [file, NPM]),
  ['Dockerfile', /(?<=image\.version=)\S+/g],
  ['deploy/kubernetes/kustomization.yaml', /(?<=newTag: )\S+/g],
  ['integrations/weir-follow', /(?<=^VERSION = ')[^']+/gm],
  ['docs/deployment.md', /(?<=--version +# such as |\/weir:)\d\S*/g],
];

// usr/share/doc/weir/copyright: the licence of weir, and of everything in its package.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE = /^(?:licen[cs]e|copying|notice)/i;
/** Debian has this text once, in each system. */
const APACHE = /^[ \t]*Apache License\s+Version 2\.0, January 2004[\s\S]*?END OF TERMS AND CONDITIONS/gm;
export const IN_DEBIAN = 'Apache License, Version 2.0: the text is in /usr/share/common-licenses/Apache-2.0.';

const textOf = (file) => readFileSync(file, 'utf8').trim().replace(/\r/g, '').replace(APACHE, IN_DEBIAN);

export function copyrightOf(root, packages) {
  const all = packages.map(({ path, name, version, license, author }) => {
    const files = readdirSync(join(root, path)).filter((each) => LICENCE.test(each));
    const by = typeof author === 'string' ? author : author?.name;
    return { name: `${name} ${version}`, license, by, texts: files.sort().map((each) => textOf(join(root, path, each))) };
  });
  /** Some packages name a licence without its text: its terms are equal in another one. */
  const termsOf = (wanted) => {
    const found = all.find(({ license, texts }) => license === wanted && /^Permission/m.test(texts[0] ?? ''));
    if (found === undefined) throw new Error(`no package has the text of the licence ${wanted}`);
    return found.texts[0].replace(/^[\s\S]*?(?=^Permission)/m, '');
  };
  const parts = all.map(({ name, license, by, texts }) => {
    const own = texts.length > 0 ? texts : [`Copyright ${by ?? `the authors of ${name}`}\n\n${termsOf(license)}`];
    return [`${name}\nLicense: ${license}`, ...own].join('\n\n');
  });
  const weir = [textOf(join(root, 'NOTICE')), textOf(join(root, 'LICENSE')), 'The package contains the following works.'];
  return `${[weir.join('\n\n'), ...parts].join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}

// The man page and the completions of the tree in the first argument, from the help of its commands; prints JSON: path → text.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';

const root = process.argv[2];
const { runCommandLine } = await import(pathToFileURL(join(root, 'src/cli/program.ts')).href);

async function help(...words) {
  const [stdout, stderr] = [new PassThrough({ highWaterMark: 1 << 20 }), new PassThrough()];
  // Wide enough for one line an entry.
  Object.assign(stdout, { isTTY: true, columns: 10_000 });
  await runCommandLine([...words, '--help'], { environment: {}, stdout, stderr });
  return String(stdout.read());
}

/** The entries below a heading of a help text: a term and its description. Longer descriptions continue, indented. */
function entries(text, heading) {
  const [, block = ''] = text.split(`${heading}:\n`);
  const lines = block
    .split(/\n(?! )/)[0]
    .replace(/\n {10,}/g, ' ')
    .split('\n');
  const found = lines.map((line) => /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line));
  return found.filter((each) => each !== null).map(([, term, about = '']) => [term, about]);
}

async function commandAt(words) {
  const text = await help(...words);
  const [, usage] = /^Usage: (.*)$/m.exec(text);
  const commands = entries(text, 'Commands')
    .map(([term, about]) => [term.split(/[ |]/)[0], about])
    .filter(([name]) => name !== 'help');
  const inner = [];
  for (const [name] of words.length < 2 ? commands : []) inner.push(await commandAt([...words, name]));
  return { words, usage, about: text.split('\n\n')[1]?.replace(/\s+/g, ' ') ?? '', options: entries(text, 'Options'), commands, inner };
}

const top = await commandAt([]);
const all = (command) => [command, ...command.inner.flatMap(all)];
const nodes = all(top);
/** The long options of a command, with their descriptions. */
const flags = ({ options }) => options.map(([term, about]) => [/--[a-z0-9-]+/.exec(term)?.[0] ?? term, about]);
/** What may follow: commands, else options. */
const choices = (node) => (node.commands.length > 0 ? node.commands : flags(node));
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A function that finds the command on the line: its words without options. */
const CASES = (line) =>
  nodes
    .toReversed()
    .map((node) => `    ${shell(node.words.join(' '))}) ${line(node)} ;;`)
    .join('\n');

const bash = `# Completion of weir for bash.
_weir() {
  local word path= words count=0
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) [ $count -lt 2 ] && path="$path\${path:+ }$word" count=$((count + 1)) ;; esac
  done
  while true; do
    words=
    case "$path" in
${CASES(
  (node) =>
    `words=${shell(
      choices(node)
        .map(([name]) => name)
        .join(' '),
    )}`,
)}
    esac
    [ -n "$words" ] || [[ "$path" != *' '* ]] && break
    path=\${path%% *}
  done
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _weir weir
`;

const zsh = `#compdef weir
# Completion of weir for zsh.
_weir() {
  local word where count=0
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) (( count < 2 )) && where="$where\${where:+ }$word" && (( count += 1 )) ;; esac
  done
  while true; do
    case "$where" in
${CASES(
  (node) =>
    `entries=(${choices(node)
      .map(([name, about]) => shell(`${name}:${about}`))
      .join(' ')})`,
)}
    esac
    (( \${#entries} )) || [[ "$where" != *' '* ]] && break
    where="\${where%% *}"
  done
  _describe 'weir' entries || _files
}
_weir "$@"
`;

const fish = [
  '# Completion of weir for fish.',
  ...nodes.flatMap((node) => {
    const names = node.commands.map(([name]) => name).join(' ');
    const seen = node.words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const none = names === '' ? [] : [`not __fish_seen_subcommand_from ${names}`];
    const when = shell(node.words.length === 0 ? '__fish_use_subcommand' : [...seen, ...none].join('; and '));
    return [
      ...node.commands.map(([name, about]) => `complete -c weir -f -n ${when} -a ${name} -d ${shell(about)}`),
      ...(names === ''
        ? flags(node).map(([name, about]) => `complete -c weir -n ${when} -l ${name.replace(/^-+/, '')} -d ${shell(about)}`)
        : []),
    ];
  }),
  '',
].join('\n');

const roff = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const man = [
  `.TH WEIR 1 "" "weir ${version}" "weir"`,
  '.SH NAME',
  'weir \\- security signals in, threat feeds out',
  '.SH SYNOPSIS',
  '.B weir\n.I command\n.RI [ options ]',
  '.SH DESCRIPTION',
  'weir is the service between detections and firewalls. Its commands work on the store of the service, with the settings in',
  '.IR /etc/weir/weir.env ,\nalso while the service runs.',
  'Run them as root; they continue as the user weir, which must be able to read and write the files that they name.',
  '.SH COMMANDS',
  ...nodes
    .filter(({ inner, words }) => inner.length === 0 && words.length > 0)
    .flatMap(({ usage, about, options }) => [
      `.SS ${roff(usage.replace(' [options]', ''))}`,
      roff(about),
      ...options.filter(([term]) => !/--help/.test(term)).flatMap(([term, text]) => [`.TP\n.B ${roff(term)}`, roff(text)]),
    ]),
  '.SH FILES',
  '.TP\n.I /etc/weir/weir.env\nsettings',
  '.TP\n.I /var/lib/weir\nthe store and the stream; before\\-upgrade in it is the backup of the last upgrade',
  '.TP\n.I /usr/share/doc/weir\ndocumentation and licences',
  '.SH EXIT STATUS',
  '0 done; 1 failed in part; 2 wrong command line or setting; 3 a check found something to do.',
  '',
].join('\n');

process.stdout.write(
  JSON.stringify({
    'usr/share/man/man1/weir.1.gz': man,
    'usr/share/bash-completion/completions/weir': bash,
    'usr/share/zsh/vendor-completions/_weir': zsh,
    'usr/share/fish/vendor_completions.d/weir.fish': fish,
  }),
);

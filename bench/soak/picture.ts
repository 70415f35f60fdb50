/** A soak as one picture: small multiples over the hours of the run, readable on light and dark pages. */
import type { Sample } from './sample.ts';

interface Panel {
  readonly title: string;
  readonly unit: string;
  /** What is drawn: the names of lines, or the largest `most` of those that begin with `prefix`. */
  readonly lines: (names: readonly string[], mean: (name: string) => number) => readonly string[];
}

const named =
  (...wanted: string[]) =>
  (names: readonly string[]) =>
    wanted.filter((name) => names.includes(name));
const PANELS: readonly Panel[] = [
  { title: 'memory', unit: 'MiB', lines: named('memory: resident', 'memory: heaps', 'memory: external') },
  {
    title: 'files and tables',
    unit: 'MiB',
    lines: (names, mean) => [
      ...named(
        'files: all of DATA_DIR',
        'files: database',
      )(names)
        .filter((name) => mean(name) > 1)
        .slice(-1),
      ...names
        .filter((name) => name.startsWith('table: '))
        .toSorted((a, b) => mean(b) - mean(a))
        .slice(0, 4),
    ],
  },
  { title: 'open descriptors, and of one core', unit: '; %', lines: named('descriptors: least', 'cpu: of one core') },
  { title: 'p99', unit: 'ms', lines: named('p99: signal', 'p99: poll', 'p99: bare') },
];
const LABELS: Readonly<Record<string, string>> = {
  ...{ 'descriptors: least': 'descriptors', 'cpu: of one core': '% of a core', 'p99: signal': 'signal acknowledged' },
  ...{ 'p99: bare': 'poll of a bare server', 'files: all of DATA_DIR': 'all', 'files: database': 'all' },
};
const COLOURS = [
  ['#2563eb', '#7aa7ff'],
  ['#c2410c', '#ff9d6b'],
  ['#15803d', '#6fd08c'],
  ['#7e22ce', '#c79bff'],
  ['#a16207', '#e6c15a'],
];
const [WIDE, HIGH, LEFT, TOP, LABEL] = [300, 150, 52, 34, 150];
const [CELL_WIDE, CELL_HIGH] = [LEFT + WIDE + LABEL, TOP + HIGH + 40];

/** The picture as the text of an SVG file. */
export function picture(samples: readonly Sample[], title: string): string {
  const names = Object.keys(samples[0]?.figures ?? {});
  const mean = (name: string) => samples.reduce((sum, { figures }) => sum + (figures[name] ?? 0), 0) / samples.length;
  const cells = PANELS.map((panel, n) => {
    const place = `translate(${(n % 2) * CELL_WIDE + 8} ${Math.floor(n / 2) * CELL_HIGH + 30})`;
    return `<g transform="${place}">${panelOf(panel, panel.lines(names, mean), samples)}</g>`;
  });
  const dark = COLOURS.map(([, colour], n) => `.l${n}{stroke:${colour}}.t${n}{fill:${colour}}`).join('');
  const light = COLOURS.map(([colour], n) => `.l${n}{stroke:${colour}}.t${n}{fill:${colour}}`).join('');
  const style = `text{font:12px system-ui,sans-serif;fill:#333}.h{font-weight:600}.g{stroke:#ccc}polyline{fill:none;stroke-width:1.6}${light}
@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#555}${dark}}`;
  const size = `width="${2 * CELL_WIDE + 16}" height="${2 * CELL_HIGH + 34}" viewBox="0 0 ${2 * CELL_WIDE + 16} ${2 * CELL_HIGH + 34}"`;
  const heading = `<text class="h" x="8" y="18">${escaped(title)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img"><title>${escaped(title)}</title>\n<style>${style}</style>\n${heading}\n${cells.join('\n')}\n</svg>\n`;
}

function panelOf({ title, unit }: Panel, lines: readonly string[], samples: readonly Sample[]): string {
  const scale = (name: string) => (name === 'cpu: of one core' ? 100 : 1);
  const values = (name: string) => samples.map(({ figures }) => (figures[name] ?? 0) * scale(name));
  const hours = Math.max(...samples.map((sample) => sample.hours), 1e-9);
  const most = nice(Math.max(...lines.flatMap(values), 1e-9));
  const x = (at: number) => (LEFT + (at / hours) * WIDE).toFixed(1);
  const y = (value: number) => TOP + HIGH - (value / most) * HIGH;
  const grid = [0, 0.5, 1].map((part) => {
    const at = y(most * part).toFixed(1);
    return `<line class="g" x1="${LEFT}" x2="${LEFT + WIDE}" y1="${at}" y2="${at}"/><text x="${LEFT - 6}" y="${Number(at) + 4}" text-anchor="end">${figure(most * part)}</text>`;
  });
  // Labels stand beside the end of their line, and below each other.
  const ends = lines.map((name, n) => ({ name, n, at: y(values(name).at(-1) ?? 0) })).sort((a, b) => a.at - b.at);
  let free = TOP;
  const labels = ends.map(({ name, n, at }) => {
    const place = Math.max(free, at + 4);
    free = place + 14;
    return `<text class="t${n}" x="${LEFT + WIDE + 6}" y="${place.toFixed(1)}">${escaped(LABELS[name] ?? name.split(': ')[1])}</text>`;
  });
  const drawn = lines.map((name, n) => {
    const points = values(name).map((value, i) => `${x(samples[i].hours)},${y(value).toFixed(1)}`);
    return `<polyline class="l${n}" points="${points.join(' ')}"/>`;
  });
  const below = [0, 0.5, 1].map((part) => {
    const days = (samples.at(-1)?.days ?? 0) * part;
    const text = part === 0 ? '0' : `${(hours * part * 60).toFixed(0)} min${days < 2 ? '' : `, day ${days.toFixed(0)}`}`;
    return `<text x="${x(hours * part)}" y="${TOP + HIGH + 18}" text-anchor="${part === 0 ? 'start' : part === 1 ? 'end' : 'middle'}">${text}</text>`;
  });
  const heading = `<text class="h" x="${LEFT}" y="${TOP - 12}">${escaped(unit.startsWith(';') ? title : `${title}, ${unit}`)}</text>`;
  return [heading, ...grid, ...drawn, ...labels, ...below].join('');
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
const figure = (value: number) => (value >= 10 ? value.toFixed(0) : value.toFixed(1));

/** The next of 1, 2, 3, 5, 8 times a power of ten. */
function nice(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 3, 5, 8, 10].find((each) => each * power >= value) ?? 10) * power;
}

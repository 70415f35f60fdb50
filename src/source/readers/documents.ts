/** By path, incrementally: one object, an array, or one value per line. */
import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { WeirError } from '../../errors.ts';
import { MOST_LEVELS, TOO_DEEP } from '../../json/json.ts';
import { columnMemory } from './columns.ts';
import { type Condition, type Path, reaches, rowsAt } from './paths.ts';
import type { PlacedRow } from './row.ts';

/** Throws USAGE for invalid JSON, and for a path without any match. */
export async function* rowsByPath(
  chunks: AsyncIterable<Buffer>,
  paths: readonly Path[],
  condition: Condition | undefined,
): AsyncGenerator<PlacedRow> {
  const found = new Set<Path>();
  const pieces = pieceReader(paths, found);
  const column = columnMemory();
  const rows = (values: readonly Piece[]): PlacedRow[] =>
    values.flatMap(({ value, paths: of, place }) => {
      const all = of.map((path) => ({ path, rows: [...rowsAt(value, path, undefined, column)] }));
      for (const { path, rows: at } of all) if (at.length > 0 || (!found.has(path) && reaches(value, path))) found.add(path);
      if (all.every(({ path, rows: at }) => at.length === 0 && path.isOne))
        return [{ row: `nothing found at ${of.map(({ text }) => text).join(', ')}`, place }];
      const matching =
        condition === undefined ? all.flatMap(({ rows: at }) => at) : of.flatMap((path) => [...rowsAt(value, path, condition, column)]);
      return matching.map((row) => ({ row, place }));
    });
  for await (const chunk of chunks) yield* rows(pieces.push(chunk));
  yield* rows(pieces.end());
  const nowhere = paths.find((path) => !found.has(path));
  if (nowhere !== undefined) throw new WeirError('USAGE', `nothing found at ${nowhere.text}`);
}

interface Piece {
  readonly value: unknown;
  readonly paths: readonly Path[];
  readonly place: string;
}

/** At the first `[]` of each path. Throws USAGE for invalid JSON. */
export async function* valuesByPath(chunks: AsyncIterable<Buffer>, paths: readonly Path[]): AsyncGenerator<Piece> {
  const pieces = pieceReader(paths, new Set());
  for await (const chunk of chunks) yield* pieces.push(chunk);
  yield* pieces.end();
}

const noJson = (why: string) => new WeirError('USAGE', `the file is not JSON: ${why}`);

function pieceReader(paths: readonly Path[], found: Set<Path>): { push(chunk: Buffer): Piece[]; end(): Piece[] } {
  const byStem = Map.groupBy(paths, ({ array }) => (array === undefined ? '' : ['', ...array].join('/')));
  const selectors = [...byStem.keys()].map((stem) => (byStem.get(stem)![0].array === undefined ? '$' : `$${stem.replaceAll('/', '.')}.*`));
  let pieces: Piece[] = [];
  let documents = 0;
  let depth = 0;
  const names: string[] = [];
  let text = '';
  let before: TokenType | undefined;
  let fault: string | undefined;
  const parser = new TokenParser({ paths: selectors, keepStack: false, separator: '' });
  parser.onValue = ({ value, key, stack }) => {
    const isComplete = stack.length === 0;
    const stem = isComplete
      ? ''
      : stack
          .map(({ key: name }) => name ?? '')
          .concat()
          .join('/');
    const of = byStem.get(isComplete ? '' : stem) ?? (stack.length === 1 ? byStem.get('') : undefined);
    // A path beginning with [] matches the top-level value.
    const own = of?.filter(({ array }) => (array === undefined) === isComplete);
    if (own !== undefined && own.length > 0) {
      const place = isComplete
        ? documents === 0
          ? 'entry 0'
          : `entry ${documents}`
        : `${stem.slice(1).replaceAll('/', '.')}[${String(key)}]`;
      pieces.push({ value, paths: own, place });
    }
    if (isComplete) documents += 1;
  };
  const tokenizer = new Tokenizer({ separator: '' });
  tokenizer.onToken = (token) => {
    if (token.token === TokenType.STRING) text = token.value as string;
    else if (token.token === TokenType.COLON) names[depth] = text;
    else if (token.token === TokenType.RIGHT_BRACKET && before === TokenType.LEFT_BRACKET)
      for (const path of byStem.get(['', ...names.slice(1, depth)].join('/')) ?? []) if (path.array !== undefined) found.add(path);
    before = token.token;
    if (token.token === TokenType.LEFT_BRACE || token.token === TokenType.LEFT_BRACKET) {
      depth += 1;
      names[depth] = '';
    }
    if (token.token === TokenType.RIGHT_BRACE || token.token === TokenType.RIGHT_BRACKET) depth -= 1;
    if (depth > MOST_LEVELS) fault ??= `it ${TOO_DEEP}`;
    else if (fault === undefined) parser.write(token);
  };
  tokenizer.onError = (error) => (fault ??= error.message);
  parser.onError = (error) => (fault ??= error.message);
  const drain = () => {
    if (fault !== undefined) throw noJson(fault);
    const ready = pieces;
    pieces = [];
    return ready;
  };
  return {
    push(chunk) {
      tokenizer.write(chunk);
      return drain();
    },
    end() {
      if (depth > 0) throw noJson('it ends too early');
      return drain();
    },
  };
}

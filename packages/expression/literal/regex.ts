/** Quoted, with escapes left to the regular expression, or raw. */
import { type Cursor, fail, failExpected } from '../cursor.ts';
import { checkRegex } from '../regex/check.ts';
import { lexRaw } from './string.ts';

/** Checks the syntax too. */
export function lexRegex(c: Cursor): string | null {
  const { text } = c;
  const code = text.charCodeAt(c.pos);
  if (code === 0x72) {
    const inner = lexRaw(c);
    // For a raw literal the engine reports the position after it.
    return inner === null ? null : check(c, text.slice(inner.start, inner.end), c.pos, text.length);
  }
  if (code !== 0x22) return failExpected(c, 'a regular expression in quotes');
  const start = c.pos + 1;
  const pattern = lexQuoted(c);
  return pattern === null ? null : check(c, pattern, start, c.pos - 1);
}

/** Unescapes only `\"`, and only outside classes: between `[` and the next `]` a quote does not end the literal. */
function lexQuoted(c: Cursor): string | null {
  const { text } = c;
  const start = c.pos + 1;
  let pattern = '';
  let from = start;
  let inClass = false;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) {
      if (!inClass && text.charCodeAt(i + 1) === 0x22) {
        pattern += text.slice(from, i);
        from = i + 1;
      }
      i++;
    } else if (code === 0x5b) inClass = true;
    else if (code === 0x5d) inClass = false;
    else if (code === 0x22 && !inClass) {
      c.pos = i + 1;
      c.steps += c.pos - start;
      return pattern + text.slice(from, i);
    }
  }
  c.steps += text.length - start;
  return fail(
    c,
    start,
    text.length,
    inClass ? 'the closing quote is missing: inside [ ] a quote is literal' : 'the closing quote is missing',
  );
}

function check(c: Cursor, pattern: string, start: number, end: number): string | null {
  const { fault, steps } = checkRegex(pattern);
  c.steps += steps;
  c.regexes++;
  return fault === null ? pattern : fail(c, start, end, fault);
}

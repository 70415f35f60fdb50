/** Compiles values of fields and calls, with their indexes. */
import { EACH, type Index, type Value as ValueNode } from '../ast.ts';
import { type ByteString, encodeText } from '../bytes.ts';
import { compileCall } from './call.ts';
import type { Compiler, Elements, Getter } from './compiler.ts';
import { type Optional, readField, type Value } from './value.ts';

/** Without `[*]`. */
export function compileValue(value: ValueNode, compiler: Compiler): Getter {
  const source = compileSource(value, compiler);
  return value.indexes.map(compileIndex).reduce<Getter>((get, index) => {
    return (request) => {
      const of = get(request);
      return of === undefined ? undefined : index(of);
    };
  }, source);
}

/** At least one `[*]`: drops elements without the indexes after it. */
export function compileElements(value: ValueNode, compiler: Compiler): Elements {
  const at = value.indexes.indexOf(EACH);
  const before = compileValue({ ...value, indexes: value.indexes.slice(0, at), mapped: 0 }, compiler);
  const steps = value.indexes.slice(at + 1).map((index) => (index === EACH ? flatten : pick(compileIndex(index))));
  return (request) => {
    const of = before(request);
    if (of === undefined) return undefined;
    let elements = elementsOf(of);
    for (const step of steps) elements = step(elements);
    return elements;
  };
}

function compileSource({ source }: ValueNode, compiler: Compiler): Getter {
  if (source.kind === 'call') return compileCall(source, compiler);
  const slot = compiler.layout.slots.get(source.name)!;
  return (request) => readField(request, source, slot);
}

function compileIndex(index: Index): (value: Value) => Optional {
  if (typeof index === 'number') return (value) => (value as readonly Value[])[index];
  const key = encodeText(index as string);
  return (value) => (value as ReadonlyMap<ByteString, Value>).get(key);
}

function pick(index: (value: Value) => Optional): (elements: readonly Value[]) => readonly Value[] {
  return (elements) => elements.map(index).filter((element) => element !== undefined);
}

function flatten(elements: readonly Value[]): readonly Value[] {
  const flat: Value[] = [];
  for (const element of elements) for (const inner of elementsOf(element)) flat.push(inner);
  return flat;
}

function elementsOf(value: Value): readonly Value[] {
  return Array.isArray(value) ? value : [...(value as ReadonlyMap<ByteString, Value>).values()];
}

import type { Schema } from '../../spec/rules/types.ts';
import { both, type Finding, isEqual, type Move, moved, typed, valueText } from './change.ts';
import { type AnySchema, typesOf } from './normalForm.ts';

/** Where a keyword changed, in which schemas, and how schemas below it are compared. */
export type Spot = {
  place: string;
  before: Schema;
  after: Schema;
  compare(before: AnySchema, after: AnySchema, place: string): Finding[];
};

/** What a change of one keyword means. `undefined` is an absent keyword; the two values differ. */
export type KeywordRule = (before: unknown, after: unknown, spot: Spot, keyword: string) => Finding[];

/** A rule that looks at the two values alone. A keyword that comes narrows, one that goes widens. */
function limit(change: (before: never, after: never) => Move | undefined): KeywordRule {
  return (before, after, { place }, keyword) => {
    const move =
      before === undefined ? 'narrower' : after === undefined ? 'wider' : change(before as never, after as never);
    return move ? [moved(place, move, shift(keyword, before, after), keyword, valueText(after ?? before))] : [];
  };
}

/** A change of a keyword in words. */
export function shift(keyword: string, before: unknown, after: unknown): string {
  if (before === undefined) return `${keyword} ${valueText(after)} is new`;
  if (after === undefined) return `${keyword} ${valueText(before)} is gone`;
  return `${keyword} ${valueText(before)} → ${valueText(after)}`;
}

export const upperBound = limit((before: number, after: number) => (after < before ? 'narrower' : 'wider'));
export const anyChange = limit(() => 'other');
/** A bound of numbers: `exclusive` and inclusive are two ways to say it, so they are compared together. */
function range(inclusive: 'minimum' | 'maximum', exclusive: 'exclusiveMinimum' | 'exclusiveMaximum'): KeywordRule {
  const sign = inclusive === 'minimum' ? 1 : -1;
  const boundOf = (schema: Schema) => {
    const [closed, open] = [schema[inclusive], schema[exclusive]].map((value) =>
      value === undefined ? -Infinity : Number(value) * sign,
    );
    const isOpen = (open ?? 0) >= (closed ?? 0) && open !== -Infinity;
    return {
      value: Math.max(closed ?? 0, open ?? 0),
      isOpen,
      text: isOpen ? `${exclusive} ${schema[exclusive]}` : `${inclusive} ${schema[inclusive]}`,
    };
  };
  return (_before, _after, { place, before, after }, keyword) => {
    if (keyword === exclusive && !isEqual(before[inclusive], after[inclusive])) return [];
    const [was, is] = [boundOf(before), boundOf(after)];
    if (was.value === is.value && was.isOpen === is.isOpen) return [];
    const isNarrower = is.value > was.value || (is.value === was.value && is.isOpen);
    const what =
      was.value === -Infinity
        ? `${is.text} is new`
        : is.value === -Infinity
          ? `${was.text} is gone`
          : `${was.text} → ${was.isOpen === is.isOpen ? is.text.split(' ')[1] : is.text}`;
    const last = is.value === -Infinity ? was.text : is.text;
    return [moved(place, isNarrower ? 'narrower' : 'wider', what, ...last.split(' '))];
  };
}

export const lowest = range('minimum', 'exclusiveMinimum');
export const highest = range('maximum', 'exclusiveMaximum');
/** A lower bound whose absence means 0. */
export const count: KeywordRule = (before, after, spot, keyword) => {
  const [was, is] = [Number(before ?? 0), Number(after ?? 0)];
  return was === is
    ? []
    : [moved(spot.place, is > was ? 'narrower' : 'wider', shift(keyword, before, after), keyword, valueText(is))];
};

export const multipleOf = limit((before: number, after: number) =>
  after % before === 0 ? 'narrower' : before % after === 0 ? 'wider' : 'other',
);

export const uniqueItems: KeywordRule = (before, after, { place }) =>
  before === true
    ? [moved(place, 'wider', 'items may repeat', 'uniqueItems')]
    : after === true
      ? [moved(place, 'narrower', 'items must be unique', 'uniqueItems')]
      : [];

export const type: KeywordRule = (_before, _after, { place, before, after }) => {
  const [was, is] = [typesOf(before), typesOf(after)];
  const covers = (wide: string[], narrow: string[]) =>
    narrow.every((each) => wide.includes(each) || (each === 'integer' && wide.includes('number')));
  const [wider, narrower] = [covers(is, was), covers(was, is)];
  if (wider && narrower) return [];
  const what = `type ${was.join(' or ')} → ${is.join(' or ')}`;
  return [moved(place, wider ? 'wider' : narrower ? 'narrower' : 'other', what, 'type', is.join(' '))];
};

export const values: KeywordRule = (before, after, { place, ...spot }) => {
  // A list that opens or closes is one finding, of `knownValues`.
  if (
    (before ?? spot.before[OPEN_LIST]) !== undefined &&
    (after ?? spot.after[OPEN_LIST]) !== undefined &&
    !(before && after)
  )
    return [];
  if (before === undefined) return [moved(place, 'narrower', `only ${list(after)} are valid now`, 'enum')];
  if (after === undefined) return [moved(place, 'wider', `other values than ${list(before)} are valid now`, 'enum')];
  const [was, is] = [before as unknown[], after as unknown[]];
  return [
    ...missing(was, is).map(
      // A reader gets fewer values, but generated code no longer has the name of this one.
      (value): Finding => ({
        ...moved(place, 'narrower', `value \`${valueText(value)}\` is gone`, valueText(value)),
        response: 'generated code',
      }),
    ),
    ...missing(is, was).map((value) => moved(place, 'wider', `value \`${valueText(value)}\` is new`, valueText(value))),
  ];
};

const OPEN_LIST = 'x-extensible-enum';

/**
 * The values of today in a list to which others may come. A new one is what readers are prepared for. One that goes when another comes
 * is renamed, and readers branch on it.
 */
export const knownValues: KeywordRule = (before, after, { place, ...spot }) => {
  const [was, is] = [before ?? spot.before.enum, after ?? spot.after.enum] as (unknown[] | undefined)[];
  if (was === undefined) return [both(place, 'addition', `names its known values: ${list(is)}`, OPEN_LIST)];
  if (is === undefined) return [both(place, 'generated code', 'names its known values no more', OPEN_LIST)];
  const [gone, added] = [missing(was, is), missing(is, was)];
  const loss = added.length > 0 ? 'breaking' : 'generated code';
  return [
    ...(before === undefined ? [moved(place, 'wider', 'is an open list now', OPEN_LIST)] : []),
    ...(after === undefined ? [moved(place, 'narrower', 'is a closed list now', OPEN_LIST)] : []),
    ...gone.map((value) => both(place, loss, `value \`${valueText(value)}\` is gone`, valueText(value))),
    ...added.map((value) => both(place, 'addition', `value \`${valueText(value)}\` is new`, valueText(value))),
  ];
};

function missing(from: unknown[], within: unknown[]): unknown[] {
  return from.filter((one) => !within.some((each) => isEqual(each, one)));
}

function list(all: unknown): string {
  return (all as unknown[]).map((value) => `\`${valueText(value)}\``).join(', ');
}

/** Formats that no validator checks: they choose types in generated code. */
const FORMATS_OF_TYPES = ['int32', 'int64', 'float', 'double', 'binary', 'byte', 'password'];

export const format: KeywordRule = (before, after, spot, keyword) => {
  const names = [before, after].filter((each) => each !== undefined);
  if (!names.every((each) => FORMATS_OF_TYPES.includes(String(each)))) return anyChange(before, after, spot, keyword);
  // Bounds say what is valid. Generators read an integer without a format as one of 32 bits.
  const finding = typed(spot.place, shift(keyword, before, after), valueText(after ?? before));
  return before === undefined && after === 'int32'
    ? [{ ...finding, request: 'addition', response: 'addition' }]
    : [finding];
};

/** A list of media types, such as `image/png, image/jpeg`. */
export const mediaTypes = limit((before: string, after: string) => {
  const [was, is] = [before, after].map((text) => text.split(/\s*,\s*/)) as [string[], string[]];
  if (was.every((each) => is.includes(each))) return is.length > was.length ? 'wider' : undefined;
  return is.every((each) => was.includes(each)) ? 'narrower' : 'other';
});

export const standard: KeywordRule = (before, after, { place }) => {
  const what = shift('default', before, after);
  if (before !== undefined && after !== undefined)
    return [{ place, what, names: ['default', valueText(after)], request: 'breaking' }];
  // Generators that make a field with a default non-optional write another type when it comes or goes.
  return [{ place, what, names: ['default'], isNamedAlone: true, request: 'generated code' }];
};

/** `readOnly` fields are refused in requests, `writeOnly` fields are missing in responses. */
export function oneWay(direction: 'request' | 'response'): KeywordRule {
  return (_before, after, { place }, keyword) => [
    {
      place,
      what: `${keyword} ${after === true ? 'is new' : 'is gone'}`,
      names: [keyword],
      request: 'addition',
      response: 'addition',
      ...(after === true && { [direction]: 'breaking' as const }),
    },
  ];
}

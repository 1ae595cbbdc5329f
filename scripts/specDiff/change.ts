/**
 * What a change means: `breaking` for callers on the wire, breaking only for `generated code` (names and types that
 * generators write), or an `addition`, which nobody has to act on.
 */
export type Kind = 'breaking' | 'generated code' | 'addition';

/**
 * One difference at one place. It says what it means in requests and what it means in responses; absent is nothing. `names` are
 * what an entry of the changelog has to name besides the place, or without it when `isNamedAlone` (a type is the same everywhere).
 */
export type Finding = {
  place: string;
  what: string;
  names: string[];
  isNamedAlone?: boolean;
  request?: Kind;
  response?: Kind;
};

/** How the set of valid values moves. `other`: some become valid and others invalid, or nobody can say. */
export type Move = 'narrower' | 'wider' | 'other';

const EFFECTS: Record<Move, Pick<Finding, 'request' | 'response'>> = {
  narrower: { request: 'breaking', response: 'addition' },
  wider: { request: 'addition', response: 'breaking' },
  other: { request: 'breaking', response: 'breaking' },
};

/** A difference that moves the set of valid values. Senders suffer when it gets narrower, readers when it gets wider. */
export function moved(place: string, move: Move, what: string, ...names: string[]): Finding {
  return { place, what, names, ...EFFECTS[move] };
}

/** A difference that means the same in requests and in responses. */
export function both(place: string, kind: Kind, what: string, ...names: string[]): Finding {
  return { place, what, names, request: kind, response: kind };
}

/** A difference that only generated code notices: a type has another name or another width there. */
export function typed(place: string, what: string, name: string): Finding {
  return { ...both(place, 'generated code', what, name), isNamedAlone: true };
}

/** The same findings seen from the other side: within `not`, what is narrower inside is wider outside. */
export function flipped(findings: Finding[]): Finding[] {
  return findings.map(({ request, response, ...rest }) => ({
    ...rest,
    ...(response && { request: response }),
    ...(request && { response: request }),
  }));
}

/** How a value is shown in a line and in `names`: as JSON, strings without quotes. */
export function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Whether two values are equal as JSON, whatever the order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key as keyof typeof a], b[key as keyof typeof b]))
  );
}

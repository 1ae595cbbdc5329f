import type { Kind } from './change.ts';

/** A difference at a place of a schema (`subject` is its name) or of an operation, with the number of operations that it reaches. */
export type LocatedChange = {
  kind: Kind;
  subject: string;
  operation?: string;
  place: string;
  what: string;
  names: string[];
  isNamedAlone?: boolean;
  requests?: number;
  answers?: number;
};

/**
 * One line of the comparison. `names` are the words that an entry of the changelog has to give in code quotes to name this change:
 * the place, and the value, code or keyword.
 */
export type Change = { kind: Kind; where: string; what: string; names: string[] };

/** So many places are listed by name. More are counted. */
const MAX_NAMED_PLACES = 3;

/** One line for each change: the same difference of many operations or fields is one, and so is a new error code. */
export function linesOf(located: LocatedChange[]): Change[] {
  const codes = new Set(
    located.filter(({ operation, names }) => operation && names.length === 1).map(({ what }) => what),
  );
  const inOperations = Map.groupBy(
    located.filter(({ operation }) => operation !== undefined),
    ({ kind, place, what }) => JSON.stringify([kind, headerIn(place) ?? place, what]),
  );
  const elsewhere = Map.groupBy(
    // A new error code has a line with its operations.
    located.filter((each) => each.operation === undefined && !codes.has(errorCodeLine(each))),
    ({ kind, what, subject, place }) => JSON.stringify(subject === '' ? [kind, place, what] : [kind, what]),
  );
  const lines = [
    ...[...inOperations.values()].map(operationsLine),
    ...[...elsewhere.values()].flatMap((group) =>
      group.length > MAX_NAMED_PLACES && group[0]?.names.length
        ? [placesLine(group)]
        : group.map((each) => placesLine([each])),
    ),
  ];
  const rank = { breaking: 0, 'generated code': 1, addition: 2 };
  return lines.toSorted((a, b) => rank[a.kind] - rank[b.kind]);
}

function errorCodeLine({ subject, what, names }: LocatedChange): string {
  return subject === 'ErrorCode' && / is new$/.test(what) ? `error code \`${names[0]}\` is new` : '';
}

function operationsLine(group: LocatedChange[]): Change {
  const [{ kind, place, what, names, isNamedAlone }] = group as [LocatedChange];
  const operations = [...new Set(group.map(({ operation }) => operation ?? ''))];
  const isListed = operations.length <= MAX_NAMED_PLACES;
  const header = headerIn(place);
  if (header !== undefined && group.some((each) => each.place !== place))
    return {
      kind,
      where: header,
      what: `${what} (in ${group.length} answers of ${count(operations.length, 'operation')})`,
      names: [...counted(kind, group.length, 'answers'), ...wordsOf(header), ...names],
    };
  const places = [...(isListed ? operations : counted(kind, operations.length, 'operations')), ...wordsOf(place)];
  const some = operations.slice(0, MAX_NAMED_PLACES).join(', ');
  return {
    kind,
    where: isListed ? `${operations.join(', ')} ${place}`.trim() : place === '' ? 'operations' : place,
    what: isListed ? what : `${what} (in ${operations.length} operations: ${some}, …)`,
    names: [...(isNamedAlone ? [] : places), ...names],
  };
}

/** `header X` of a place such as `429 header X`: one header of many statuses is one line. */
function headerIn(place: string): string | undefined {
  return /^\d+ (header .+)$/.exec(place)?.[1];
}

function placesLine(group: LocatedChange[]): Change {
  const [{ kind, what, names, place, isNamedAlone, requests = 0, answers = 0 }] = group as [LocatedChange];
  if (group.length > 1) {
    const some = group.slice(0, MAX_NAMED_PLACES).map((each) => each.place);
    return {
      kind,
      where: 'fields',
      what: `${what} (in ${group.length} fields: ${some.join(', ')}, …)`,
      names: [...counted(kind, group.length, 'fields'), ...names],
    };
  }
  const parts = [requests > 0 && count(requests, 'request'), answers > 0 && count(answers, 'answer')].filter(
    (part) => !!part,
  );
  const reach = parts.length > 0 ? ` (in ${parts.join(' and ')})` : '';
  return { kind, where: place, what: `${what}${reach}`, names: [...(isNamedAlone ? [] : wordsOf(place)), ...names] };
}

/** An entry for a breaking change at many places says how many, so that it does not cover one that comes later. */
function counted(kind: Kind, number: number, noun: string): string[] {
  return kind === 'breaking' ? [`${number} ${noun}`] : [];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The names in a place: `Agent.tags[]` is `Agent.tags`, and `query parameter limit` is `limit`. */
function wordsOf(place: string): string[] {
  return place
    .replaceAll(/\[\]|\.\*|\([^)]*\)|`/g, '')
    .split(/[\s,]+/)
    .filter(
      (word) =>
        word !== '' &&
        !['parameter', 'query', 'path', 'header', 'cookie', 'body', 'callback', 'document'].includes(word),
    );
}

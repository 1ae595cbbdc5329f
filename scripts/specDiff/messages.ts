import type { Document, MediaType, Parameter, RequestBody, Schema } from '../../spec/rules/types.ts';
import { type Finding, isEqual, type Kind, valueText } from './change.ts';
import { resolved } from './normalForm.ts';
import type { SchemaComparison } from './schemas.ts';

/** Two documents, the comparison of their schemas, and whether operations are ours (`paths`) or the callers' (`webhooks`). */
export type Sides = { before: Document; after: Document; schemas: SchemaComparison; isOurs: boolean };

/** A difference within an operation. `place` is the part of it, such as `query parameter limit`; empty is the operation itself. */
export type OperationPart = { kind: Kind; place: string; what: string; names: string[]; isNamedAlone?: boolean };

type Header = { required?: boolean; schema?: Schema; [key: string]: unknown };

/** A response as the document has it. */
export type ResponseNode = {
  headers?: Record<string, Header>;
  content?: Record<string, MediaType>;
  [key: string]: unknown;
};
type Node = Record<string, unknown>;

/** What is said of a status that an operation did not answer before. */
export const NEW_ANSWER = 'is a new answer';

/** A part without a rule counts as breaking, and the line says why. */
export function unknownKey(place: string, key: string): OperationPart {
  return { kind: 'breaking', place, what: `\`${key}\` changed (no rule knows it: counted as breaking)`, names: [key] };
}

/** Findings of a schema, as far as they matter in requests or in responses. */
function inDirection(findings: Finding[], isRequest: boolean): OperationPart[] {
  return findings.flatMap(({ request, response, ...finding }) => {
    const kind = isRequest ? request : response;
    return kind ? [{ ...finding, kind }] : [];
  });
}

/** Compares the parameters of an operation, by their place and name. */
export function compareParameters(sides: Sides, before: Parameter[] = [], after: Parameter[] = []): OperationPart[] {
  const keyed = (document: Document, list: Parameter[]) => {
    const url = list.map((each) => resolved(document, each)).filter((each) => each.in === 'path');
    return new Map(
      list.map((each) => {
        const parameter = resolved(document, each);
        // A path parameter is known by its position: its name is only in the document.
        const name = parameter.in === 'path' ? String(url.indexOf(parameter)) : parameter.name;
        return [`${parameter.in} ${parameter.in === 'header' ? name.toLowerCase() : name}`, parameter];
      }),
    );
  };
  const [was, is] = [keyed(sides.before, before), keyed(sides.after, after)];
  const parts: OperationPart[] = [];
  for (const key of new Set([...was.keys(), ...is.keys()])) {
    const [old, current] = [was.get(key), is.get(key)];
    const one = current ?? old;
    const place = `${one?.in} parameter ${one?.name}`;
    if (current === undefined) parts.push({ kind: 'breaking', place, what: 'is gone', names: [] });
    else if (old === undefined) {
      const kind = current.required ? 'breaking' : 'addition';
      parts.push({ kind, place, what: current.required ? 'is new and required' : 'is new', names: [] });
    } else parts.push(...compareParameter(sides, old, current, place));
  }
  return parts;
}

const PARAMETER_KEYS = new Set(['name', 'in', 'required', 'schema', 'content']);

function compareParameter(sides: Sides, old: Parameter, current: Parameter, place: string): OperationPart[] {
  const parts: OperationPart[] = inDirection(
    sides.schemas.compare(old.schema ?? {}, current.schema ?? {}, place),
    sides.isOurs,
  );
  const [was, is] = [old.required === true, current.required === true];
  if (was !== is)
    parts.push({
      kind: is ? 'breaking' : 'addition',
      place,
      what: is ? 'is required now' : 'may be left out now',
      names: ['required'],
    });
  parts.push(...compareContent(sides, old.content as never, current.content as never, place, sides.isOurs));
  for (const key of new Set([...Object.keys(old), ...Object.keys(current)]))
    if (!PARAMETER_KEYS.has(key) && !isEqual(old[key], current[key])) parts.push(unknownKey(place, key));
  return parts;
}

/** Compares the request body of an operation. */
export function compareBody(
  sides: Sides,
  before: RequestBody | undefined,
  after: RequestBody | undefined,
): OperationPart[] {
  const place = 'body';
  if (before === undefined && after === undefined) return [];
  const [was, is] = [resolved(sides.before, before), resolved(sides.after, after)];
  if (before === undefined)
    return [
      {
        kind: is.required ? 'breaking' : 'addition',
        place,
        what: is.required ? 'is new and required' : 'is new',
        names: [],
      },
    ];
  if (after === undefined) return [{ kind: 'breaking', place, what: 'is gone', names: [] }];
  const [wasNeeded, isNeeded] = [was.required === true, is.required === true];
  const needed: OperationPart[] =
    wasNeeded === isNeeded
      ? []
      : [
          {
            kind: isNeeded ? 'breaking' : 'addition',
            place,
            what: isNeeded ? 'is required now' : 'may be left out now',
            names: ['required'],
          },
        ];
  return [...needed, ...compareContent(sides, was.content, is.content, place, sides.isOurs)];
}

function compareContent(
  sides: Sides,
  was: Record<string, MediaType> = {},
  is: Record<string, MediaType> = {},
  place: string,
  isRequest: boolean,
): OperationPart[] {
  const parts: OperationPart[] = [];
  for (const type of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const [old, current] = [was[type], is[type]];
    if (current === undefined) parts.push({ kind: 'breaking', place, what: `\`${type}\` is gone`, names: [type] });
    else if (old === undefined) parts.push({ kind: 'addition', place, what: `\`${type}\` is new`, names: [type] });
    else {
      parts.push(...inDirection(sides.schemas.compare(old.schema ?? {}, current.schema ?? {}, place), isRequest));
      const keys = [...Object.keys(old), ...Object.keys(current)] as (keyof MediaType)[];
      for (const key of new Set(keys))
        if (key === 'encoding') parts.push(...compareEncoding(old.encoding, current.encoding, place));
        else if (key !== 'schema' && !isEqual(old[key], current[key])) parts.push(unknownKey(`${place} ${type}`, key));
    }
  }
  return parts;
}

/** How the parts of a form are written. Nobody can say whether another way is read as the present one. */
function compareEncoding(
  before: Record<string, object> = {},
  after: Record<string, object> = {},
  place: string,
): OperationPart[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name): OperationPart[] => {
    const [was, is] = [before[name], after[name]];
    if (isEqual(was, is)) return [];
    const what = `encoding of the part \`${name}\`: ${was ? valueText(was) : 'none'} → ${is ? valueText(is) : 'none'}`;
    return [{ kind: 'breaking', place, what, names: [name, 'encoding'] }];
  });
}

/** Compares the answers of an operation by their statuses: contents and headers. */
export function compareResponses(sides: Sides, before: Node = {}, after: Node = {}): OperationPart[] {
  const isRequest = !sides.isOurs;
  const parts: OperationPart[] = [];
  for (const status of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = status;
    const isSuccess = Number(status) < 400;
    if (after[status] === undefined) {
      parts.push({ kind: isSuccess ? 'breaking' : 'addition', place, what: 'is no longer an answer', names: [] });
      continue;
    }
    if (before[status] === undefined) {
      parts.push({ kind: isSuccess ? 'breaking' : 'addition', place, what: NEW_ANSWER, names: [] });
      continue;
    }
    const was = resolved(sides.before, before[status] as ResponseNode);
    const is = resolved(sides.after, after[status] as ResponseNode);
    parts.push(...compareContent(sides, was.content, is.content, place, isRequest));
    parts.push(...compareHeaders(sides, was.headers, is.headers, place));
    for (const key of new Set([...Object.keys(was), ...Object.keys(is)]))
      if (!['content', 'headers', 'x-error-codes', '$ref'].includes(key) && !isEqual(was[key], is[key]))
        parts.push(unknownKey(place, key));
  }
  return parts;
}

function compareHeaders(
  sides: Sides,
  before: Record<string, Header> = {},
  after: Record<string, Header> = {},
  at: string,
): OperationPart[] {
  const keyed = (document: Document, headers: Record<string, Header>) =>
    new Map(
      Object.entries(headers).map(([name, header]) => [
        name.toLowerCase(),
        { name, header: resolved(document, header) },
      ]),
    );
  const [was, is] = [keyed(sides.before, before), keyed(sides.after, after)];
  const parts: OperationPart[] = [];
  for (const key of new Set([...was.keys(), ...is.keys()])) {
    const [old, current] = [was.get(key), is.get(key)];
    const place = `${at} header ${(current ?? old)?.name}`;
    if (current === undefined) parts.push({ kind: 'breaking', place, what: 'is gone', names: [] });
    else if (old === undefined) parts.push({ kind: 'addition', place, what: 'is new', names: [] });
    else {
      const [wasSure, isSure] = [old.header.required === true, current.header.required === true];
      if (wasSure !== isSure)
        parts.push({
          kind: isSure ? 'addition' : 'breaking',
          place,
          what: isSure ? 'is always sent now' : 'may be absent now',
          names: ['required'],
        });
      parts.push(
        ...inDirection(
          sides.schemas.compare(old.header.schema ?? {}, current.header.schema ?? {}, place),
          !sides.isOurs,
        ),
      );
    }
  }
  return parts;
}

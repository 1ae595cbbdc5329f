import type { Document, Parameter, RequestBody } from '../../spec/rules/types.ts';
import { isEqual, type Kind } from './change.ts';
import {
  compareBody,
  compareParameters,
  compareResponses,
  NEW_ANSWER,
  type OperationPart,
  type ResponseNode,
  type Sides,
  unknownKey,
} from './messages.ts';
import { resolved } from './normalForm.ts';
import { listedOperations } from './reach.ts';
import { compareSecurity } from './security.ts';

/** A difference of one operation. */
export type OperationFinding = OperationPart & { operation: string };

type Node = Record<string, unknown>;

/** The mark of an operation that answers 501. */
const NOT_SERVED = 'x-not-implemented';

/** Parts of an operation that are compared by a rule of their own, or that `withoutTexts` leaves but nobody can notice. */
const KNOWN = new Set([
  'operationId',
  'tags',
  'parameters',
  'requestBody',
  'responses',
  'security',
  'callbacks',
  'x-error-codes',
  NOT_SERVED,
]);

/** Compares the operations of two documents: those of their paths, or of their webhooks. */
export function compareOperations(sides: Sides, paths: 'paths' | 'webhooks'): OperationFinding[] {
  return compareLists(sides, sides.before[paths], sides.after[paths]);
}

function compareLists(sides: Sides, before: unknown, after: unknown): OperationFinding[] {
  const address = (each: { url: string; method: string }) =>
    `${each.method} ${each.url.replaceAll(/\{[^}]*\}/g, '{}')}`;
  const [was, is] = [before, after].map((list) => new Map(listedOperations(list).map((each) => [address(each), each])));
  const findings: OperationFinding[] = [];
  for (const [key, old] of was ?? []) {
    const current = is?.get(key);
    const at = `${old.method.toUpperCase()} ${old.url}`;
    if (current) findings.push(...compareOperation(sides, old, current));
    else findings.push({ operation: old.id, kind: 'breaking', place: '', what: `is gone (${at})`, names: [] });
  }
  for (const [key, { id, method, url }] of is ?? [])
    if (!was?.has(key))
      findings.push({
        operation: id,
        kind: 'addition',
        place: '',
        what: `is new (${method.toUpperCase()} ${url})`,
        names: [],
      });
  return findings;
}

type Found = ReturnType<typeof listedOperations>[number];

function compareOperation(sides: Sides, was: Found, is: Found): OperationFinding[] {
  const found: OperationPart[] = [];
  const add = (kind: Kind, place: string, what: string, ...names: string[]) => found.push({ kind, place, what, names });
  if (was.id !== is.id) add('generated code', '', `is the name of \`${was.id}\` now`, was.id);
  if (was.url !== is.url)
    add('generated code', '', `parameters of the path have other names: ${was.url} → ${is.url}`, is.url);
  const [old, current] = [was.operation, is.operation];
  if (!isEqual(old.tags, current.tags))
    add(
      'generated code',
      '',
      `tag ${String(old.tags)} → ${String(current.tags)}`,
      ...((current.tags as string[]) ?? []),
    );
  found.push(...compareSecurity(sides, old.security, current.security));
  found.push(...compareParameters(sides, old.parameters as Parameter[], current.parameters as Parameter[]));
  found.push(...compareBody(sides, old.requestBody as RequestBody, current.requestBody as RequestBody));
  if (old[NOT_SERVED] && !current[NOT_SERVED]) add('addition', '', 'is served now');
  if (!old[NOT_SERVED] && current[NOT_SERVED]) add('breaking', '', 'is not served any more');
  const codes = compareCodes(sides, old, current);
  const answers = compareResponses(sides, old.responses as Node, current.responses as Node);
  // A new status that comes with a new code is said with the code.
  found.push(
    ...answers.filter(({ place, what }) => what !== NEW_ANSWER || !codes.some((code) => code.place === place)),
  );
  found.push(...codes);
  for (const key of new Set([...Object.keys(old), ...Object.keys(current)]))
    if (!KNOWN.has(key) && !isEqual(old[key], current[key])) found.push(unknownKey('', key));
  const callbacks = [old.callbacks ?? {}, current.callbacks ?? {}] as [Node, Node];
  const nested = [...new Set(callbacks.flatMap((each) => Object.keys(each)))].flatMap((name) =>
    compareLists({ ...sides, isOurs: !sides.isOurs }, callbacks[0][name], callbacks[1][name]).map((each) => ({
      ...each,
      operation: is.id,
      place: `callback ${name} ${each.place}`.trim(),
    })),
  );
  return [...found.map((each) => ({ operation: is.id, ...each })), ...nested];
}

/** The statuses of each error code of an operation, those that its shared responses bring among them. */
function codesOf(document: Document, operation: Node): Map<string, string[]> {
  const codes = new Map<string, string[]>();
  const own = (operation['x-error-codes'] ?? {}) as Record<string, string[]>;
  for (const [status, response] of Object.entries((operation.responses ?? {}) as Record<string, ResponseNode>)) {
    const shared = (resolved(document, response)['x-error-codes'] ?? []) as string[];
    for (const code of new Set([...shared, ...(own[status] ?? [])]))
      codes.set(code, [...(codes.get(code) ?? []), status]);
  }
  return codes;
}

/**
 * Callers branch on error codes. A new one is an addition, as the document says that their list is open. One that goes is missed when
 * another code takes its place: under another status, or another code under its status.
 */
function compareCodes({ before, after }: Sides, old: Node, current: Node): OperationPart[] {
  const [was, is] = [codesOf(before, old), codesOf(after, current)];
  const parts: OperationPart[] = [];
  const added = new Map([...is].filter(([code]) => !was.has(code)));
  for (const [code, statuses] of was) {
    const now = is.get(code);
    const part = { place: statuses.join(', '), names: [code] };
    const successor = [...added].find(([, at]) => at.some((status) => statuses.includes(status)))?.[0];
    if (now && !isEqual(now, statuses))
      parts.push({ ...part, kind: 'breaking', what: `error code \`${code}\` is ${now.join(', ')} now` });
    else if (!now && successor) {
      added.delete(successor);
      parts.push({ ...part, kind: 'breaking', what: `error code \`${code}\` is gone, \`${successor}\` is new` });
    } else if (!now) parts.push({ ...part, kind: 'addition', what: `error code \`${code}\` is gone` });
  }
  for (const [code, statuses] of added)
    parts.push({ kind: 'addition', place: statuses.join(', '), what: `error code \`${code}\` is new`, names: [code] });
  return parts;
}

import type { Document, Schema } from '../../spec/rules/types.ts';
import { withInlineWebhooks } from '../bundle/webhooks.ts';
import { both, isEqual, type Kind } from './change.ts';
import { compareWhole } from './documentParts.ts';
import { type Change, type LocatedChange, linesOf } from './lines.ts';
import { compareOperations } from './operations.ts';
import { type Reach, reachOfSchemas } from './reach.ts';
import { SchemaComparison } from './schemas.ts';
import { withoutTexts } from './stripped.ts';

/**
 * Lists the changes between two bundled documents that callers of the API can notice, one line a change, breaking ones first. A change is
 * breaking when a valid request becomes invalid, or when a response may have a value that was impossible or may lack one that was
 * always there. It breaks generated code when only names or types that generators write change. Texts and examples do not count.
 *
 * Each schema is compared once, by its name, and counts for the operations that reach it in requests or in responses. `keywords.ts`
 * says what a change of each keyword means; a keyword or a part that has no rule counts as breaking, and the line says so.
 *
 * Not seen: promises in texts, and whether a changed `pattern`, `format` or condition takes less than the old one (it counts as breaking).
 */
export function compareDocuments(earlier: Document, later: Document): Change[] {
  const [before, after] = [withoutTexts(withInlineWebhooks(earlier)), withoutTexts(withInlineWebhooks(later))];
  const schemas = new SchemaComparison(before, after);
  const located: LocatedChange[] = compareWhole(before, after).map((part) => ({ ...part, subject: '' }));
  for (const list of ['paths', 'webhooks'] as const)
    for (const { operation, ...part } of compareOperations({ before, after, schemas, isOurs: list === 'paths' }, list))
      located.push({ ...part, subject: '', operation });
  located.push(...comparedSchemas(before, after, schemas), ...renamedParts(before, after));
  return linesOf(located);
}

function comparedSchemas(before: Document, after: Document, schemas: SchemaComparison): LocatedChange[] {
  const [was, is] = [before, after].map((document) => document.components?.schemas ?? {}) as [Schemas, Schemas];
  const reachBefore = reachOfSchemas(before);
  const reachAfter = reachOfSchemas(after);
  const located: LocatedChange[] = [];
  const compare = (old: string, current: string) => {
    const reach = joined(reachBefore.get(old), reachAfter.get(current));
    if (old !== current)
      located.push({ ...reached(reach), ...renamed(old, current), kind: 'generated code', subject: current });
    for (const { request, response, ...finding } of schemas.compare(was[old] ?? {}, is[current] ?? {}, current)) {
      const kinds = [reach.requests.size > 0 && request, reach.responses.size > 0 && response].filter((kind) => !!kind);
      const kind = worst(kinds);
      if (kind) located.push({ ...finding, ...reached(reach), kind, subject: current });
    }
  };
  for (const name of Object.keys(was)) if (name in is) compare(name, name);
  // Comparing a renamed schema can find another one.
  const done = new Set<string>();
  for (let left = [...schemas.renames]; left.length > 0; left = [...schemas.renames].filter(([old]) => !done.has(old)))
    for (const [old, current] of left) {
      done.add(old);
      compare(old, current);
    }
  for (const name of Object.keys(was))
    if (!(name in is) && !done.has(name)) {
      const { request: _request, response: _response, ...gone } = both(name, 'generated code', 'schema is gone');
      located.push({ ...gone, ...reached(reachBefore.get(name)), kind: 'generated code', subject: name });
    }
  return located;
}

/**
 * Shared parts that have another name or none. Some generators make a type of each. Names of shared responses do not count: the bundler
 * makes them from the codes.
 */
function renamedParts(before: Document, after: Document): LocatedChange[] {
  return ['parameters', 'headers', 'requestBodies'].flatMap((kind) => {
    const [was, is] = [before.components?.[kind] ?? {}, after.components?.[kind] ?? {}];
    return Object.entries(was).flatMap(([name, part]): LocatedChange[] => {
      if (name in is) return [];
      const successor = Object.keys(is).find((each) => !(each in was) && isEqual(is[each], part));
      const what = successor ? `\`${name}\` is called \`${successor}\` now` : `\`${name}\` is gone`;
      const names = successor ? [name, successor] : [name];
      return [{ kind: 'generated code', subject: '', place: `shared ${kind}`, what, names, isNamedAlone: true }];
    });
  });
}

type Schemas = Record<string, Schema>;

function renamed(old: string, current: string): Pick<LocatedChange, 'place' | 'what' | 'names'> {
  return { place: current, what: `is the name of the schema \`${old}\` now`, names: [old] };
}

function joined(one: Reach | undefined, other: Reach | undefined): Reach {
  const union = (key: keyof Reach) => new Set([...(one?.[key] ?? []), ...(other?.[key] ?? [])]);
  return { requests: union('requests'), responses: union('responses') };
}

function reached(reach: Reach | undefined): Pick<LocatedChange, 'requests' | 'answers'> {
  return { requests: reach?.requests.size ?? 0, answers: reach?.responses.size ?? 0 };
}

function worst(kinds: Kind[]): Kind | undefined {
  return (['breaking', 'generated code', 'addition'] as const).find((kind) => kinds.includes(kind));
}

import type { Document, Schema } from '../../spec/rules/types.ts';
import { type Finding, isEqual, type Kind, moved, typed, valueText } from './change.ts';
import { RULES, unknownKeyword } from './keywords.ts';
import { type AnySchema, allowsNull, expanded, normalForm, refName, typesOf } from './normalForm.ts';

/**
 * Compares schemas of two documents. A reference to a component that both documents have is equal to itself: components are compared
 * once, by their names. A component that is gone, in whose place a new one stands, is renamed: `renames` has both names, and the
 * caller compares their contents.
 */
export class SchemaComparison {
  readonly renames = new Map<string, string>();
  private readonly before: Document;
  private readonly after: Document;
  private readonly open = new Set<string>();

  constructor(before: Document, after: Document) {
    this.before = before;
    this.after = after;
  }

  /** The findings for a schema at `place`, such as `Agent.tags[]`. */
  readonly compare = (before: AnySchema, after: AnySchema, place: string): Finding[] => {
    if (isEqual(before, after)) return [];
    const findings = this.compareNull(before, after, place);
    const [was, is] = [normalForm(before), normalForm(after)];
    if (was.$ref === undefined && is.$ref === undefined) return [...findings, ...this.compareParts(was, is, place)];
    if (was.$ref !== undefined && is.$ref !== undefined && this.isSame(was.$ref, is.$ref)) {
      const { $ref: _was, ...restBefore } = was;
      const { $ref: _is, ...restAfter } = is;
      return [...findings, ...this.compareKeywords(restBefore, restAfter, place)];
    }
    // A recursive schema is compared once on the way down.
    const key = `${was.$ref} ${is.$ref} ${place.replaceAll(/\..*/g, '')}`;
    if (this.open.has(key)) return findings;
    this.open.add(key);
    const parts = this.compareParts(expanded(was, this.before), expanded(is, this.after), place);
    this.open.delete(key);
    return [...findings, ...this.withNames(was, is, place, parts)];
  };

  /** Another component that differs in more than one thing is one finding: what differs is in the component. */
  private withNames(was: Schema, is: Schema, place: string, parts: Finding[]): Finding[] {
    const names = this.namedOtherwise(was, is, place);
    const [named] = names;
    if (named === undefined || was.$ref === undefined || is.$ref === undefined || parts.length < 2)
      return [...names, ...parts];
    const worst = (kinds: (Kind | undefined)[]) => (kinds.includes('breaking') ? 'breaking' : 'generated code');
    const what = `${named.what} (${parts.length} differences)`;
    const request = worst(parts.map((part) => part.request));
    return [{ ...named, what, request, response: worst(parts.map((part) => part.response)) }];
  }

  private compareNull(before: AnySchema, after: AnySchema, place: string): Finding[] {
    const [was, is] = [allowsNull(before, this.before), allowsNull(after, this.after)];
    if (was === is) return [];
    return [moved(place, is ? 'wider' : 'narrower', is ? 'may be null now' : 'is never null now', 'null')];
  }

  private isSame(before: string, after: string): boolean {
    const [was, is] = [refName(before), refName(after)];
    if (was === undefined || is === undefined) return before === after;
    if (was === is) return true;
    const isRenamed =
      this.after.components?.schemas?.[was] === undefined && this.before.components?.schemas?.[is] === undefined;
    if (isRenamed && !this.renames.has(was)) this.renames.set(was, is);
    return this.renames.get(was) === is;
  }

  /** Generators name types after components. A type without a name of its own gets one after its place. */
  private namedOtherwise(was: Schema, is: Schema, place: string): Finding[] {
    const [old, current] = [refName(was.$ref), refName(is.$ref)];
    const hasType = ({ enum: values, properties }: Schema) => values !== undefined || properties !== undefined;
    if (old && current) return [typed(place, `is the schema \`${current}\` and no longer \`${old}\``, current)];
    if (current && hasType(was)) return [typed(place, `is the schema \`${current}\` now`, current)];
    if (old && hasType(is)) return [typed(place, `is no longer the schema \`${old}\``, old)];
    return [];
  }

  private compareParts(before: Schema, after: Schema, place: string): Finding[] {
    if (!isEqual(before.allOf, after.allOf)) {
      const [was, is] = [expanded(before, this.before), expanded(after, this.after)];
      if (!isEqual(was, before) || !isEqual(is, after)) return this.compareParts(was, is, place);
    }
    const [was, is] = [parted(before), parted(after)];
    if (was.union === undefined && is.union === undefined) return this.compareKeywords(before, after, place);
    if (was.union !== undefined && is.union !== undefined)
      return [
        ...this.compareKeywords(was.base, is.base, place),
        ...(isEqual(was.union, is.union) ? [] : this.compareAlternatives(was.union, is.union, place)),
        ...this.compareUnionKeywords(was, is, place),
      ];
    if (was.union === undefined && isBare(is.base)) return this.compareAlternatives([before], is.union ?? [], place);
    if (is.union === undefined && isBare(was.base)) return this.compareAlternatives(was.union ?? [], [after], place);
    const [move, verb] = was.union === undefined ? (['narrower', 'new'] as const) : (['wider', 'gone'] as const);
    const keyword = was.keyword ?? is.keyword ?? '';
    return [
      ...this.compareKeywords(was.base, is.base, place),
      moved(place, move, `\`${keyword}\` is ${verb}`, keyword),
    ];
  }

  private compareKeywords(before: Schema, after: Schema, place: string): Finding[] {
    const keywords = new Set([...Object.keys(before), ...Object.keys(after)]);
    const spot = { place, before, after, compare: this.compare };
    // What is said of texts and what is said of objects cannot be compared.
    if (!this.mayPair(before, after)) keywords.clear();
    keywords.add('type');
    return [...keywords].flatMap((keyword) => {
      const isCondition = keyword === 'if' && !(isEqual(before.then, after.then) && isEqual(before.else, after.else));
      if (isEqual(before[keyword], after[keyword]) && !isCondition && keyword !== 'type') return [];
      return (RULES[keyword] ?? unknownKeyword)(before[keyword], after[keyword], spot, keyword);
    });
  }

  /** Pairs the alternatives that are most alike. One without a partner counts unless another alternative covers it. */
  private compareAlternatives(before: Schema[], after: Schema[], place: string): Finding[] {
    const pairs = before.flatMap((was) =>
      after.filter((is) => this.mayPair(was, is)).map((is) => ({ was, is, findings: this.compare(was, is, place) })),
    );
    const findings: Finding[] = [];
    const paired = new Set<Schema>();
    for (const pair of pairs.toSorted((a, b) => a.findings.length - b.findings.length)) {
      if (paired.has(pair.was) || paired.has(pair.is)) continue;
      paired.add(pair.was).add(pair.is);
      findings.push(...pair.findings);
    }
    const gone = before.filter(
      (was) => !paired.has(was) && !pairs.some((pair) => pair.was === was && isWider(pair.findings)),
    );
    const added = after.filter(
      (is) => !paired.has(is) && !pairs.some((pair) => pair.is === is && isNarrower(pair.findings)),
    );
    return [
      ...findings,
      ...gone.map((one) => moved(place, 'narrower', `alternative ${label(one)} is gone`, label(one))),
      ...added.map((one) => moved(place, 'wider', `alternative ${label(one)} is new`, label(one))),
    ];
  }

  private mayPair(before: Schema, after: Schema): boolean {
    const types = typesOf(expanded(before, this.before));
    return typesOf(expanded(after, this.after)).some((type) => types.includes(type));
  }

  /** `oneOf` demands that no other alternative fits. That is no difference where alternatives cannot overlap. */
  private compareUnionKeywords(was: Parted, is: Parted, place: string): Finding[] {
    if (was.keyword === is.keyword) return [];
    const alternatives = (is.union ?? []).map((one) => expanded(one, this.after));
    const areApart = alternatives.every((one, index) =>
      alternatives.slice(index + 1).every((other) => isApart(one, other)),
    );
    if (areApart) return [];
    const move = is.keyword === 'oneOf' ? 'narrower' : 'wider';
    return [moved(place, move, `${was.keyword} → ${is.keyword}`, is.keyword ?? '')];
  }
}

type Parted = { base: Schema; union?: Schema[]; keyword?: 'anyOf' | 'oneOf' };

function parted(schema: Schema): Parted {
  const keyword = schema.anyOf ? 'anyOf' : schema.oneOf ? 'oneOf' : undefined;
  if (keyword === undefined) return { base: schema };
  const { [keyword]: union, ...base } = schema;
  return { base, keyword, ...(union && { union }) };
}

function isBare({ default: _, ...rest }: Schema): boolean {
  return Object.keys(rest).length === 0;
}

function isWider(findings: Finding[]): boolean {
  return findings.every(({ request }) => request !== 'breaking');
}

function isNarrower(findings: Finding[]): boolean {
  return findings.every(({ response }) => response !== 'breaking');
}

/** Whether no value fits both: their types differ, or a field that both require has other values. */
function isApart(one: Schema, other: Schema): boolean {
  if (!typesOf(one).some((type) => typesOf(other).includes(type))) return true;
  const valuesOf = ({ enum: values, const: value }: Schema) => values ?? (value === undefined ? undefined : [value]);
  const differ = (a: Schema = {}, b: Schema = {}) =>
    valuesOf(a)?.every((value) => valuesOf(b)?.every((each) => !isEqual(each, value)) ?? false) ?? false;
  return (one.required ?? []).some(
    (name) => other.required?.includes(name) && differ(one.properties?.[name], other.properties?.[name]),
  );
}

function label(schema: Schema): string {
  const name = refName(schema.$ref);
  if (name) return `\`${name}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${valueText(value)}\``).join(', ');
  if (schema.type === undefined && schema.required) return schema.required.map((each) => `\`${each}\``).join(', ');
  return `\`${[schema.type ?? 'any'].flat().join(' or ')}\``;
}

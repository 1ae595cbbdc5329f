import { readFileSync } from 'node:fs';
import type { Kind } from '../../../scripts/specDiff/change.ts';
import { compareDocuments } from '../../../scripts/specDiff/compare.ts';
import type { Change } from '../../../scripts/specDiff/lines.ts';
import type { Document, Operation, Parameter, Response, Schema } from '../../../spec/rules/types.ts';

/** To compare all operations takes long. */
const TAGS = ['Agents', 'Agent Commands', 'Billing', 'Hub', 'Knowledge Sources', 'Messages', 'Skills'];

/** The real document. Nobody changes it. */
export const wholeDocument: Document = JSON.parse(readFileSync('generated/openapi.json', 'utf8'));

const document = excerpt(wholeDocument);
const text = JSON.stringify(document);

/** The paths of some tags, and all components. */
function excerpt(whole: Document): Document {
  const paths = Object.entries(whole.paths ?? {}).filter(([, item]) =>
    Object.values(item).some((node) => TAGS.includes((node as Operation).tags?.[0] ?? '')),
  );
  return { ...whole, paths: Object.fromEntries(paths) };
}

/** The lines of the comparison for one change of the real document. */
export function linesOfChange(change: (document: Document) => unknown): Change[] {
  const changed: Document = JSON.parse(text);
  change(changed);
  return compareDocuments(document, changed);
}

/** A change, the kind of the worst line that it gives, and the form of all its lines. */
export type Row = [kind: Kind, what: string, change: (document: Document) => unknown, line: RegExp];

/** One test for each change. */
export function testRows(rows: Row[]): void {
  test.each(rows)('%s: %s', (kind, _what, change, line) => {
    const changes = linesOfChange(change);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.map((each) => `${each.where}  ${each.what}`)).toEqual(
      changes.map(() => expect.stringMatching(line)),
    );
    expect(changes[0]?.kind).toBe(kind);
  });
}

/** Puts another value into the place of one. */
export function swap(list: unknown[] | undefined, from: string, to: string): void {
  const index = list?.indexOf(from) ?? -1;
  if (index < 0) throw new Error(`${from} is not in the list`);
  list?.splice(index, 1, to);
}

/** An operation of the document by its name. */
export function operationOf(document: Document, id: string): Operation & { [key: string]: unknown } {
  for (const item of Object.values(document.paths ?? {}))
    for (const node of Object.values(item))
      if ((node as Operation).operationId === id) return node as Operation & { [key: string]: unknown };
  throw new Error(`${id} is no operation`);
}

type Fields = Required<Pick<Schema, 'properties' | 'required'>> & Schema;

/** A schema of the document by its name. */
export function schemaOf(document: Document, name: string): Fields {
  const schema = document.components?.schemas?.[name];
  if (schema === undefined) throw new Error(`${name} is no schema`);
  return schema as Fields;
}

/** A field of a schema, such as `Agent.name`. */
export function fieldOf(document: Document, place: string): Schema {
  const [name = '', field = ''] = place.split('.');
  const schema = schemaOf(document, name).properties[field];
  if (schema === undefined) throw new Error(`${place} is no field`);
  return schema;
}

/** A shared parameter of the document by the name of its file. */
export function parameterOf(document: Document, name: string): Parameter & { schema: Schema } {
  const parameter = document.components?.parameters?.[name];
  if (parameter === undefined) throw new Error(`${name} is no parameter`);
  return parameter as Parameter & { schema: Schema };
}

/** A shared response of the document by the name of its file. */
export function responseOf(document: Document, name: string): Response & { headers: Record<string, object> } {
  const response = document.components?.responses?.[name];
  if (response === undefined) throw new Error(`${name} is no response`);
  return response as Response & { headers: Record<string, object> };
}

/** Gives a schema another name, wherever it is referred to. */
export function renameSchema(document: Document, from: string, to: string): void {
  const renamed: Document = JSON.parse(JSON.stringify(document).replaceAll(`/schemas/${from}"`, `/schemas/${to}"`));
  const { [from]: schema, ...others } = renamed.components?.schemas ?? {};
  Object.assign(document, renamed, { components: { ...renamed.components, schemas: { ...others, [to]: schema } } });
}

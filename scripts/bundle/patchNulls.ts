import type { Document, Operation, RequestBody, Schema } from '../../spec/rules/types.ts';

/** Says in the description of each PATCH operation which fields of its JSON body cannot be `null`, so that all say it alike. */
export function writePatchNulls(document: Document): void {
  for (const item of Object.values(document.paths ?? {})) {
    const operation = item.patch as Operation | undefined;
    if (!operation) continue;
    const fields = fieldsOf(document, operation);
    const kept = Object.keys(fields).filter((name) => !takesNull(document, fields[name] ?? {}));
    if (kept.length === 0) continue;
    const names = kept.map((name) => `\`${name}\``).join(', ');
    operation.description = `${(operation.description ?? '').trimEnd()}\n\nCannot be \`null\`: ${names}.`;
  }
}

/** The fields of the JSON body of an operation. */
export function fieldsOf(document: Document, operation: Operation): Record<string, Schema> {
  const body = resolve<RequestBody>(document, operation.requestBody);
  const schema = resolve<Schema>(document, body?.content?.['application/json']?.schema);
  const parts = [schema, ...(schema?.allOf ?? []).map((part) => resolve<Schema>(document, part))];
  return Object.assign({}, ...parts.map((part) => part?.properties));
}

/** Whether a schema accepts `null`. */
export function takesNull(document: Document, schema: Schema): boolean {
  const { type, enum: values, anyOf, oneOf, allOf, ...rest } = resolve<Schema>(document, schema) ?? {};
  const takes = (each: Schema) => takesNull(document, each);
  if (values) return values.includes(null);
  if ('const' in rest) return rest.const === null;
  const alternatives = anyOf ?? oneOf;
  if (alternatives && !alternatives.some(takes)) return false;
  if (allOf && !allOf.every(takes)) return false;
  return type === undefined || [type].flat().includes('null');
}

function resolve<T extends { $ref?: string }>(document: Document, node: T | undefined): T | undefined {
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(node?.$ref ?? '') ?? [];
  return kind === '' ? node : (document.components?.[kind]?.[name] as T);
}

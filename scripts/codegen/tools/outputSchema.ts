import type { Document, Operation, Response, Schema } from '../../../spec/rules/types.ts';
import type { OperationRow } from '../operations.ts';
import { merged } from './inputSchema.ts';

/** What a tool without an answer says. */
export const DONE: Schema = { type: 'object', properties: { done: { type: 'boolean' } } };

/**
 * The schema of a tool's structured content: an object always, so an array is `items`, and no answer is `done`. It names fields and types.
 * Nothing is required and no value is excluded: a client refuses a whole answer that does not fit, and a service that is newer than the
 * tools may have one more status.
 */
export function outputSchema(document: Document, operation: Operation, row: OperationRow): Schema {
  const given = operation.responses?.[row.status];
  const name = given?.$ref?.split('/').at(-1);
  const response = (name === undefined ? given : document.components?.responses?.[name]) as Response | undefined;
  const schema = response?.content?.['application/json']?.schema;
  if (!schema) return DONE;
  const shown = resultSchema(document, schema);
  return shown.type === 'array' ? { type: 'object', properties: { items: shown } } : shown;
}

function resultSchema(document: Document, schema: Schema): Schema {
  const whole = merged(document, schema);
  const branches = whole.anyOf?.filter((each) => each.type !== 'null');
  const optional = branches?.length !== whole.anyOf?.length;
  if (branches?.length === 1 && branches[0]) {
    const only = resultSchema(document, branches[0]);
    return optional ? withNull(only) : only;
  }
  const types = [whole.type ?? []].flat();
  const [type] = types.filter((each) => each !== 'null');
  const result: Schema = type === undefined ? {} : { type };
  if (whole.items) result.items = resultSchema(document, whole.items);
  if (whole.properties) {
    result.properties = Object.fromEntries(
      Object.entries(whole.properties).map(([key, each]) => [key, resultSchema(document, each)]),
    );
  }
  return types.includes('null') ? withNull(result) : result;
}

function withNull(schema: Schema): Schema {
  return schema.type === undefined ? schema : { ...schema, type: [schema.type as string, 'null'] };
}

import type {
  Document,
  Operation,
  Parameter,
  PathItem,
  RequestBody,
  Response,
  Schema,
} from '../../spec/rules/types.ts';
import { commandExample } from './commandExample.ts';
import {
  checkFlags,
  firstSentences,
  flagName,
  flagOf,
  flagsOf,
  flagType,
  plainSchema,
  resolveNode,
} from './commandFields.ts';
import type { OperationCommand } from './commandTypes.ts';
import { commandWords } from './commandWords.ts';
import type { OperationRow } from './operations.ts';

const MAX_COLUMNS = 6;

/** One entry for each operation, in the document's order. Throws when two commands or two flags of one command have the same name. */
export function commandEntries(
  document: Document,
  rows: OperationRow[],
): (OperationCommand & { operationId: string })[] {
  const entries = rows.map((row) => commandEntry(document, row));
  const seen = new Map<string, string>();
  for (const { operationId, words } of entries) {
    const name = words.join(' ');
    const other = seen.get(name);
    if (other) throw new Error(`${operationId}: its command \`${name}\` is that of ${other}, too`);
    seen.set(name, operationId);
  }
  return entries;
}

function commandEntry(document: Document, row: OperationRow): OperationCommand & { operationId: string } {
  const item = document.paths?.[row.path] as PathItem;
  const operation = item[row.method.toLowerCase()] as Operation;
  const deref = <T>(node: T | undefined): T | undefined => resolveNode(document, node);
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) =>
    resolveNode<Parameter>(document, each),
  );
  const content = deref<RequestBody>(operation.requestBody)?.content ?? {};
  const json = deref<Schema>(content['application/json']?.schema);
  const parts = deref<Schema>(content['multipart/form-data']?.schema);
  const metadata = deref<Schema>(parts?.properties?.metadata)?.contentSchema;
  const query = parameters
    .filter((each) => each.in === 'query')
    .map((each) => flagOf(document, each.name, each.schema ?? {}, each));
  // A field that the query has, too, is one flag.
  const fields = flagsOf(document, json).filter(({ name }) => query.every((each) => each.name !== name));
  const variables = parameters.filter((each) => each.in === 'path').map((each) => variable(document, each));
  const response = responseOf(document, operation, row.status);
  const entry = {
    operationId: row.operationId,
    words: commandWords(row.tag, row.operationId),
    method: row.method,
    path: row.path,
    summary: row.summary,
    variables,
    query,
    body: row.requestBody,
    bodyRequired: row.bodyRequired,
    fields,
    ...(parts?.properties?.file && {
      file: firstSentences(resolveNode<Schema>(document, parts.properties.file).description),
    }),
    ...(metadata && { metadata: flagsOf(document, deref<Schema>(metadata)) }),
    ...response,
    ...(parameters.some((each) => each.in === 'header' && each.name === 'Idempotency-Key') && {
      idempotent: true as const,
    }),
  };
  const unknown = parameters.filter((each) => !['path', 'query'].includes(each.in) && each.name !== 'Idempotency-Key');
  if (unknown.length > 0) throw new Error(`${row.operationId}: no flag is made for the header ${unknown[0]?.name}`);
  checkFlags(row.operationId, [...query, ...fields]);
  return { ...entry, example: commandExample(document, row, entry, parameters) };
}

function variable(document: Document, { name, schema, description }: Parameter): OperationCommand['variables'][number] {
  const { choices, about } = flagOf(document, name, schema ?? {}, { description });
  return { name, label: flagName(name), about: about || `the ${words(name)}`, ...(choices && { choices }) };
}

/** `agentPublicId` → `agent id`. */
function words(name: string): string {
  return flagName(name).replaceAll('-', ' ');
}

function responseOf(
  document: Document,
  operation: Operation,
  status: number,
): Pick<OperationCommand, 'response' | 'columns'> {
  const content = resolveNode<Response | undefined>(document, operation.responses?.[status])?.content;
  if (content?.['text/event-stream']) return { response: 'events' };
  const schema = resolveNode(document, content?.['application/json']?.schema);
  if (!schema) return { response: 'none' };
  const { items, totalPages } = schema.properties ?? {};
  if (items && totalPages)
    return { response: 'pages', columns: columnsOf(document, resolveNode(document, items).items) };
  if (schema.type === 'array') return { response: 'list', columns: columnsOf(document, schema.items) };
  return { response: 'value' };
}

/** The first scalar fields of an item, which tell most; the time of its creation last. */
function columnsOf(document: Document, node: Schema | undefined): string[] {
  const properties = Object.entries(resolveNode(document, node)?.properties ?? {});
  const short = properties
    .filter(
      ([name, each]) =>
        flagType(plainSchema(document, each).schema) !== 'json' &&
        !/^(description|prompt|updatedAt)$|Url$|^url$/.test(name),
    )
    .map(([name]) => name);
  const time = short.find((name) => name === 'createdAt');
  return [...short.filter((name) => name !== time).slice(0, MAX_COLUMNS - 1), ...(time ? [time] : [])];
}

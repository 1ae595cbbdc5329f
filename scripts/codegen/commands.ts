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
import { commandWords, hyphenated } from './commandWords.ts';
import type { OperationRow } from './operations.ts';

/** A field of a query or of a body, as a flag of a command. */
export type CommandField = {
  /** Name in the request, such as `aiModelPublicId`. */
  name: string;
  /** Name of the flag, without its hyphens: `ai-model-id`. */
  flag: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'any';
  /** A list of such values: the flag may be given several times. */
  list?: true;
  /** The values that it takes. */
  choices?: string[];
  required?: true;
  /** Takes `null`. */
  nullable?: true;
  about: string;
};

/** What a command line needs to know of an operation. */
export type CommandRowOfOperation = {
  words: string[];
  method: string;
  path: string;
  summary: string;
  /** The variables of the path, in order: name in the path, label in the help. */
  variables: { name: string; label: string; about: string; choices?: string[] }[];
  query: CommandField[];
  body: 'json' | 'multipart' | 'json-or-multipart' | 'none';
  bodyRequired: boolean;
  fields: CommandField[];
  /** What the part `file` takes, for uploads. */
  file?: string;
  /** The fields of the part `metadata`, beside a file. */
  metadata?: CommandField[];
  /** How the response comes: pages, a list, one value, events, or nothing. */
  response: 'pages' | 'list' | 'value' | 'events' | 'none';
  columns?: string[];
  /** Takes an `Idempotency-Key`. */
  idempotent?: true;
  /** What follows the words in an example. */
  example: string;
};

/** Flags that every generated command has, or that say where its data comes from: no field may have these names. */
const TAKEN = new Set(
  'json profile api-key api-key-file base-url yes timeout help version body all null file idempotency-key no-color'.split(
    ' ',
  ),
);

const MAX_COLUMNS = 6;

/** One entry for each operation, in the document's order. Throws when two commands or two flags of one command have the same name. */
export function commandEntries(
  document: Document,
  rows: OperationRow[],
): (CommandRowOfOperation & { operationId: string })[] {
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

function commandEntry(document: Document, row: OperationRow): CommandRowOfOperation & { operationId: string } {
  const item = document.paths?.[row.path] as PathItem;
  const operation = item[row.method.toLowerCase()] as Operation;
  const deref = <T>(node: T | undefined): T | undefined => resolve(document, node);
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) =>
    resolve<Parameter>(document, each),
  );
  const content = deref<RequestBody>(operation.requestBody)?.content ?? {};
  const json = deref<Schema>(content['application/json']?.schema);
  const parts = deref<Schema>(content['multipart/form-data']?.schema);
  const metadata = deref<Schema>(parts?.properties?.metadata)?.contentSchema;
  const query = parameters
    .filter((each) => each.in === 'query')
    .map((each) => field(document, each.name, each.schema ?? {}, each));
  // A field that the query has, too, is one flag.
  const fields = fieldsOf(document, json).filter(({ name }) => query.every((each) => each.name !== name));
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
      file: firstSentences(resolve<Schema>(document, parts.properties.file).description),
    }),
    ...(metadata && { metadata: fieldsOf(document, deref<Schema>(metadata)) }),
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

function checkFlags(operationId: string, fields: CommandField[]): void {
  const seen = new Set<string>(TAKEN);
  for (const { flag } of fields) {
    if (seen.has(flag)) throw new Error(`${operationId}: two of its flags are --${flag}`);
    seen.add(flag);
  }
}

function variable(
  document: Document,
  { name, schema, description }: Parameter,
): CommandRowOfOperation['variables'][number] {
  const { choices, about } = field(document, name, schema ?? {}, { description });
  return { name, label: flagName(name), about: about || `the ${words(name)}`, ...(choices && { choices }) };
}

/** `agentPublicId` → `agent id`. */
function words(name: string): string {
  return flagName(name).replaceAll('-', ' ');
}

/** The name of a field as people type it: `aiModelPublicId` → `ai-model-id`. No request has both `fooId` and `fooPublicId`. */
export function flagName(name: string): string {
  return hyphenated(name.replace(/PublicId(s?)$/, 'Id$1'));
}

function fieldsOf(document: Document, schema: Schema | undefined): CommandField[] {
  const required = new Set(schema?.required);
  return Object.entries(schema?.properties ?? {}).map(([name, each]) =>
    field(document, name, each, { required: required.has(name) }),
  );
}

function field(
  document: Document,
  name: string,
  node: Schema,
  { required, description }: { required?: unknown; description?: unknown; [more: string]: unknown } = {},
): CommandField {
  const { schema, nullable } = plain(document, node);
  const items = schema.type === 'array' ? plain(document, schema.items ?? {}).schema : undefined;
  const value = items ?? schema;
  const choices = value.enum?.filter((each) => typeof each === 'string');
  const about = firstSentences(description ?? node.description ?? schema.description);
  const open = value['x-extensible-enum'];
  return {
    name,
    flag: flagName(name),
    type: typeOf(value),
    ...(items && { list: true as const }),
    ...(choices?.length && { choices }),
    ...(required === true && { required: true as const }),
    ...((nullable || typeOf(value) === 'any') && { nullable: true as const }),
    about: Array.isArray(open) && !about ? `such as ${open.slice(0, 3).join(', ')}` : about,
  };
}

/** `any` where the schema says nothing of the type: a value that is no JSON is a text. */
function typeOf({ type, anyOf, oneOf, allOf, properties }: Schema): CommandField['type'] {
  if (type === undefined && !anyOf && !oneOf && !allOf && !properties) return 'any';
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean' ? type : 'json';
}

/** A schema without its references and without `null`. A value of more than one type stays as it is: it is given as JSON. */
function plain(document: Document, node: Schema): { schema: Schema; nullable: boolean } {
  const schema = resolve(document, node);
  const others = (schema.anyOf ?? schema.oneOf)?.filter((each) => each.type !== 'null');
  const nullable = Array.isArray(schema.type)
    ? schema.type.includes('null')
    : schema.anyOf?.some((each) => each.type === 'null') === true;
  const only = others?.length === 1 ? others[0] : schema.allOf?.length === 1 ? schema.allOf[0] : undefined;
  if (only)
    return {
      schema: {
        ...plain(document, only).schema,
        ...(schema.description !== undefined && { description: schema.description }),
      },
      nullable,
    };
  const types = [schema.type ?? []].flat().filter((each) => each !== 'null');
  return { schema: { ...schema, type: types.length === 1 ? types[0] : undefined }, nullable };
}

function responseOf(
  document: Document,
  operation: Operation,
  status: number,
): Pick<CommandRowOfOperation, 'response' | 'columns'> {
  const content = resolve<Response | undefined>(document, operation.responses?.[status])?.content;
  if (content?.['text/event-stream']) return { response: 'events' };
  const schema = resolve(document, content?.['application/json']?.schema);
  if (!schema) return { response: 'none' };
  const { items, totalPages } = schema.properties ?? {};
  if (items && totalPages) return { response: 'pages', columns: columnsOf(document, resolve(document, items).items) };
  if (schema.type === 'array') return { response: 'list', columns: columnsOf(document, schema.items) };
  return { response: 'value' };
}

/** The first scalar fields of an item, which tell most; the time of its creation last. */
function columnsOf(document: Document, node: Schema | undefined): string[] {
  const properties = Object.entries(resolve(document, node)?.properties ?? {});
  const short = properties
    .filter(
      ([name, each]) =>
        typeOf(plain(document, each).schema) !== 'json' && !/^(description|prompt|updatedAt)$|Url$|^url$/.test(name),
    )
    .map(([name]) => name);
  const time = short.find((name) => name === 'createdAt');
  return [...short.filter((name) => name !== time).slice(0, MAX_COLUMNS - 1), ...(time ? [time] : [])];
}

/** The first sentence of a description, or two when the first is short. */
function firstSentences(text: unknown): string {
  if (typeof text !== 'string') return '';
  const flat = text.replace(/\s+/g, ' ').trim();
  const [first = '', second = ''] = flat.split(/(?<=[.!?])\s(?=[A-Z`])/);
  return `${first}${first.length + second.length < 110 && second ? ` ${second}` : ''}`;
}

function resolve<T>(document: Document, node: T): T {
  let found = node as { $ref?: string } | undefined;
  while (found?.$ref) {
    const [, , kind = '', name = ''] = found.$ref.split('/');
    found = document.components?.[kind]?.[name] as { $ref?: string } | undefined;
  }
  return found as T;
}

/** The text of generated/commands.ts: what the help of the root and of a group needs, and no more. */
export function commandsModule(document: Document, rows: OperationRow[]): string {
  const entries = commandEntries(document, rows);
  const headings = tagHeadings(document);
  const summaries = new Map(
    (document.tags as { name: string; description: string }[]).map((tag) => [tag.name, tag.description]),
  );
  const groups = new Map<string, { tag: string; lines: string[] }>();
  for (const [index, { words, operationId, summary }] of entries.entries()) {
    const [group = '', ...verb] = words;
    const lines: string[] = groups.get(group)?.lines ?? [];
    groups.set(group, { tag: rows[index]?.tag ?? '', lines });
    lines.push(`    ${JSON.stringify({ words: verb, operationId, summary })},`);
  }
  const texts = [...groups].map(
    ([group, { tag, lines }]) =>
      `  ${JSON.stringify(group)}: {"heading":${JSON.stringify(headings.get(tag))},"summary":${JSON.stringify(summaries.get(tag)?.replace(/\.$/, ''))},"commands":[\n${lines.join('\n')}\n  ]},`,
  );
  return `// Written by \`npm run codegen\` from spec/. Do not edit.
import type { OperationId } from './operations.ts';

/** The commands of the command line that are made from operations, by their first word. \`words\` are those after it. */
export const commandGroups: Record<string, { heading: string; summary: string; commands: { words: string[]; operationId: OperationId; summary: string }[] }> = {
${texts.join('\n')}
};
`;
}

function tagHeadings(document: Document): Map<string, string> {
  const groups = (document['x-tagGroups'] ?? []) as { name: string; tags: string[] }[];
  return new Map(groups.flatMap(({ name, tags }) => tags.map((tag) => [tag, name] as const)));
}

/** The text of generated/commandTable.ts: arguments and flags of every command. It is loaded when a command is called. */
export function commandTableModule(document: Document, rows: OperationRow[]): string {
  const lines = commandEntries(document, rows).map(
    ({ operationId, ...entry }) => `  ${operationId}: ${JSON.stringify(entry)},`,
  );
  return `// Written by \`npm run codegen\` from spec/. Do not edit.
import type { OperationId } from './operations.ts';

/** A field of a query or of a body, as a flag of a command. \`list\`: the flag may be given several times. */
export type CommandField = { name: string; flag: string; type: 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'any'; list?: true; choices?: string[]; required?: true; nullable?: true; about: string };

/** What a command line needs to know of an operation. \`variables\` are those of the path; \`file\` and \`metadata\` are the parts of an upload. */
export type OperationCommand = {
  words: string[];
  method: string;
  path: string;
  summary: string;
  variables: { name: string; label: string; about: string; choices?: string[] }[];
  query: CommandField[];
  body: 'json' | 'multipart' | 'json-or-multipart' | 'none';
  bodyRequired: boolean;
  fields: CommandField[];
  file?: string;
  metadata?: CommandField[];
  response: 'pages' | 'list' | 'value' | 'events' | 'none';
  columns?: string[];
  idempotent?: true;
  example: string;
};

/** Every operation of the document, by operationId. */
export const commandTable: Record<OperationId, OperationCommand> = {
${lines.join('\n')}
};
`;
}

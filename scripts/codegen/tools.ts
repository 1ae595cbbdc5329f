import { toolName } from '../../clients/mcp/tools/name.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { Document, Operation, Schema } from '../../spec/rules/types.ts';
import type { OperationRow } from './operations.ts';
import { annotationsOf } from './tools/annotations.ts';
import { argumentSchemas, bodyContent, parametersOf } from './tools/argumentSchemas.ts';
import { type Hints, hints } from './tools/hints.ts';
import { type InputPlace, inputSchema } from './tools/inputSchema.ts';
import { NOTES } from './tools/notes.ts';
import { outputSchema } from './tools/outputSchema.ts';

/** The operation that is no tool: a tool call has one answer, and `sendMessage` gives it. */
const STREAMED = 'streamMessage';

/** A file as arguments: a path on the machine of the client, or the content. */
const FILE_ARGUMENTS: Record<string, Schema> = {
  file_path: { type: 'string', description: 'or file_base64 and file_name' },
  file_base64: { type: 'string' },
  file_name: { type: 'string' },
};

/** One tool of generated/tools.json. */
export interface ToolRow {
  operationId: string;
  tag: string;
  tool: {
    name: string;
    title: string;
    description: string;
    inputSchema: Schema;
    outputSchema: Schema;
    annotations: Record<string, boolean>;
  };
}

/**
 * Every operation of a bundled document but the streamed one as an MCP tool, in the document's order.
 * @throws Error when a hint or a note is about nothing
 */
export function toolRows(document: Document, rows: OperationRow[]): ToolRow[] {
  const words = hints();
  const taken = new Set<string>();
  const tools = rows.filter((row) => row.operationId !== STREAMED).map((row) => toolRow(document, row, words, taken));
  const unused = [...words.keys()].filter((key) => !taken.has(key));
  const known = new Set(rows.map((row) => row.operationId));
  unused.push(...Object.keys(NOTES).filter((id) => !known.has(id)));
  if (unused.length > 0) throw new Error(`scripts/codegen/tools: words about nothing: ${unused.join(', ')}`);
  return tools;
}

/** The texts of generated/tools.json and generated/toolSchemas.json: a line for each tool and each schema. */
export function toolFiles(document: Document, rows: OperationRow[]): Record<string, string> {
  const tools = toolRows(document, rows);
  const ids = new Set(tools.map((row) => row.operationId));
  const { $defs, tools: schemas } = argumentSchemas(
    document,
    rows.filter((row) => ids.has(row.operationId)),
  );
  const lines = (entries: object) =>
    Object.entries(entries).map(([name, each]) => `${JSON.stringify(name)}: ${JSON.stringify(each)}`);
  const member = (name: string, entries: object) => `"${name}": {\n${lines(entries).join(',\n')}\n}`;
  return {
    'tools.json': `[\n${tools.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`,
    'toolSchemas.json': `{\n${member('$defs', $defs)},\n${member('tools', schemas)}\n}\n`,
  };
}

function toolRow(document: Document, row: OperationRow, words: Hints, taken: Set<string>): ToolRow {
  const { operationId, tag, summary } = row;
  const operation = document.paths?.[row.path]?.[row.method.toLowerCase()] as Operation;
  const note = NOTES[operationId as OperationId];
  const place: InputPlace = {
    document,
    hints: words,
    taken,
    nulls: row.method === 'PATCH' || row.method === 'PUT',
  };
  return {
    operationId,
    tag,
    tool: {
      name: toolName(tag, operationId),
      title: summary,
      description: note === undefined ? summary : `${summary}: ${note}`,
      inputSchema: argumentsSchema(place, operation, row),
      outputSchema: outputSchema(document, operation, row),
      annotations: annotationsOf(row),
    },
  };
}

/** Path and query parameters as arguments of their own, and the body as `body`. */
function argumentsSchema(place: InputPlace, operation: Operation, row: OperationRow): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const { component, parameter } of parametersOf(place.document, operation)) {
    if (parameter.in === 'header') continue;
    properties[parameter.name] = inputSchema(place, parameter.schema ?? {}, `parameters.${component}`);
    if (parameter.required) required.push(parameter.name);
  }
  const content = bodyContent(place.document, operation);
  const json = content['application/json']?.schema;
  const multipart = content['multipart/form-data'];
  if (json) {
    const { required: fields, ...body } = inputSchema(place, json);
    properties.body = multipart || !fields ? body : { ...body, required: fields };
    if (row.bodyRequired && !multipart) required.push('body');
  }
  if (multipart) Object.assign(properties, FILE_ARGUMENTS);
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

import type { Document, Example, Operation, Parameter, PathItem, RequestBody } from '../../spec/rules/types.ts';
import type { CommandField, OperationCommand } from './commandTypes.ts';
import type { OperationRow } from './operations.ts';

/** Flags in an example: those that are needed, and then others until it has so many. */
const MAX_FLAGS = 3;
const MAX_VALUE = 60;

/** What follows the words of a command in an example, from the document's own examples: arguments, and flags with values. */
export function commandExample(
  document: Document,
  row: OperationRow,
  { variables, fields, file, query }: Pick<OperationCommand, 'variables' | 'fields' | 'file' | 'query'>,
  parameters: Parameter[],
): string {
  const values = variables.map(
    ({ name, label, choices }) =>
      exampleOf(
        document,
        parameters.find((each) => each.name === name),
      ) ??
      choices?.[0] ??
      `<${label}>`,
  );
  if (file) return [...values.map((each) => quoted(String(each))), '--file ./file'].join(' ');
  const body = bodyExample(document, row);
  const short = fields.filter(
    ({ name, required }) => name in body && (required || JSON.stringify(body[name]).length <= MAX_VALUE),
  );
  const chosen = [...short.filter(({ required }) => required), ...short.filter(({ required }) => !required)];
  const needed = chosen.filter(({ required }) => required).length;
  const flags = chosen.slice(0, Math.max(needed, MAX_FLAGS)).flatMap((each) => flagText(each, body[each.name]));
  const filters = query
    .filter(({ choices, required }) => choices || required)
    .slice(0, 1)
    .map(({ flag, choices }) => `--${flag} ${choices?.[0] ?? 'acme'}`);
  return [...values.map((each) => quoted(String(each))), ...filters, ...flags].join(' ');
}

function exampleOf(document: Document, parameter: Parameter | undefined): unknown {
  const schema = parameter?.schema as { examples?: unknown[]; $ref?: string } | undefined;
  const [named] = Object.values(parameter?.examples ?? {});
  const resolved = schema?.$ref
    ? (document.components?.schemas?.[schema.$ref.split('/').pop() ?? ''] as typeof schema)
    : schema;
  return parameter?.example ?? named?.value ?? resolved?.examples?.[0];
}

function bodyExample(document: Document, row: OperationRow): Record<string, unknown> {
  const operation = (document.paths?.[row.path] as PathItem | undefined)?.[row.method.toLowerCase()] as Operation;
  const examples = (operation.requestBody as RequestBody | undefined)?.content?.['application/json']?.examples;
  const [first] = Object.values(examples ?? {});
  const example = first?.$ref ? (document.components?.examples?.[first.$ref.split('/').pop() ?? ''] as Example) : first;
  return (example?.value ?? {}) as Record<string, unknown>;
}

function flagText({ flag, type, list, nullable }: CommandField, value: unknown): string[] {
  if (value === null) return nullable ? [`--null ${flag}`] : [];
  if (type === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
  if (list && Array.isArray(value)) return value.map((each) => `--${flag} ${quoted(text(each))}`);
  return [`--${flag} ${quoted(text(value))}`];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** As a POSIX shell reads it. */
function quoted(value: string): string {
  return /^[\w./:@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

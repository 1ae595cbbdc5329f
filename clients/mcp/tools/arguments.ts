import type { Tool } from '@modelcontextprotocol/server';
import type { AnyInput } from '../../sdk/index.ts';
import { type FileArguments, type FilePolicy, FileRefused, fileOf } from './files.ts';
import { nearest } from './nearest.ts';
import { type Problem, WrongArguments } from './problem.ts';
import type { ToolRow } from './table.ts';
import { type ArgumentRow, argumentRow, MAX_PROBLEMS, problemsOf } from './validators.ts';

/** An input schema of generated/tools.json, as far as arguments are read by it. */
interface Shape {
  type?: string | string[];
  properties?: Record<string, Shape>;
  items?: Shape;
  anyOf?: Shape[];
}

/** Schemas nest less deeply than this. */
const MAX_DEPTH = 8;

/**
 * The input of the operation that the arguments of a tool give. A JSON string is taken for an object or an array, a number or a boolean as
 * text for a parameter that is one, and null for an absent parameter.
 * @throws WrongArguments with every place that is wrong
 */
export async function inputOf({ operationId, tool }: ToolRow, given: unknown, files: FilePolicy): Promise<AnyInput> {
  const row = argumentRow(operationId);
  const shape = tool.inputSchema as Shape;
  const values = objectOf(given);
  const problems = unknownArguments(values, tool);
  const read = (name: string) => readValue(values[name], shape.properties?.[name] ?? {}, 0);
  const input: AnyInput = { path: {}, query: {} };
  for (const parameter of row.parameters) {
    const value = parameterOf(read(parameter.name), parameter.schema, shape.properties?.[parameter.name] ?? {});
    if (value === undefined || value === null) {
      if (parameter.required) problems.push({ field: parameter.name, message: 'is required' });
      continue;
    }
    const key = `${operationId} ${parameter.name}`;
    problems.push(...problemsOf(key, parameter.schema, value, parameter.name));
    if (parameter.in === 'path' && !isSegment(value)) {
      problems.push({ field: parameter.name, message: 'cannot stand in an address' });
    }
    if (parameter.in === 'path') input.path = { ...input.path, [parameter.name]: value as string | number };
    else input.query = { ...input.query, [parameter.name]: value };
  }
  const file = row.file ? await fileArgument(values, files, row, problems) : undefined;
  addBody(input, { operationId, row, body: read('body'), file }, problems);
  if (problems.length > 0) throw new WrongArguments(problems);
  return input;
}

function objectOf(given: unknown): Record<string, unknown> {
  const value = typeof given === 'string' ? parsed(given) : given;
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new WrongArguments([{ field: '', message: 'the arguments must be an object' }]);
}

/** Names that the tool does not have, each with the one that may be meant. */
function unknownArguments(values: Record<string, unknown>, { inputSchema }: Tool): Problem[] {
  const { properties = {} } = inputSchema as Shape;
  const inBody = Object.keys(properties.body?.properties ?? {});
  return Object.keys(values)
    .filter((name) => !Object.hasOwn(properties, name))
    .slice(0, MAX_PROBLEMS)
    .map((name) => {
      if (inBody.includes(name)) return { field: name, message: `is a field of body: {"body": {"${name}": …}}` };
      const close = nearest(name, Object.keys(properties));
      const taken = Object.keys(properties).join(', ') || 'none';
      const hint = close === undefined ? `the arguments are: ${taken}` : `did you mean ${close}?`;
      return { field: name, message: `is not known; ${hint}` };
    });
}

/** The value, with JSON text read where the shape wants an object or an array, at any depth. */
function readValue(value: unknown, shape: Shape, depth: number): unknown {
  const types = [shape.type ?? []].flat();
  const wantsText = types.length === 0 || types.includes('string');
  const whole = typeof value === 'string' && !wantsText && /^\s*[[{]/.test(value) ? (parsed(value) ?? value) : value;
  if (typeof whole !== 'object' || whole === null || depth >= MAX_DEPTH) return whole;
  if (Array.isArray(whole))
    return shape.items ? whole.map((each) => readValue(each, shape.items ?? {}, depth + 1)) : whole;
  const fields = shape.properties;
  if (!fields) return whole;
  return Object.fromEntries(
    Object.entries(whole).map(([name, each]) => [
      name,
      Object.hasOwn(fields, name) ? readValue(each, fields[name] ?? {}, depth + 1) : each,
    ]),
  );
}

/** A parameter's value: it is text in the address anyway, so text is taken for a number or a boolean, and one value for a list. */
function parameterOf(value: unknown, schema: Record<string, unknown>, { type }: Shape): unknown {
  if (type === 'array' && value !== undefined && value !== null && !Array.isArray(value)) return [value];
  if (typeof value !== 'string') return value;
  if (schema.type === 'integer' && /^\d+$/.test(value)) return Number(value);
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** Whether a value can be one part of a path: `.` and `..` mean other places, and half a character cannot be written. */
function isSegment(value: unknown): boolean {
  return typeof value !== 'string' || (value !== '.' && value !== '..' && value.isWellFormed());
}

async function fileArgument(
  values: Record<string, unknown>,
  files: FilePolicy,
  { file: rule }: ArgumentRow,
  problems: Problem[],
) {
  if (!rule) return undefined;
  const given: FileArguments = {};
  for (const name of ['file_path', 'file_base64', 'file_name'] as const) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    if (typeof value === 'string') given[name] = value;
    else problems.push({ field: name, message: 'must be string' });
  }
  try {
    const file = await fileOf(given, files, rule.maxBytes);
    if (!file && rule.required)
      problems.push({ field: 'file_path', message: 'is required, or file_base64 and file_name' });
    return file;
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    problems.push({ field: error.field, message: error.message });
    return undefined;
  }
}

function addBody(
  input: AnyInput,
  given: { operationId: string; row: ArgumentRow; body: unknown; file: AnyInput['file'] },
  problems: Problem[],
): void {
  const { operationId, row, body, file } = given;
  if (file) {
    input.file = file;
    if (body === undefined || body === null || !row.file?.body) return;
    problems.push(...checkedBody(`${operationId} file`, row.file.body, body));
    input.metadata = body;
    return;
  }
  if (!row.body) return;
  if (body === undefined || body === null) {
    if (row.bodyRequired || row.file)
      problems.push({ field: 'body', message: row.file ? 'is required without a file' : 'is required' });
    return;
  }
  problems.push(...checkedBody(operationId, row.body, body));
  input.body = body;
}

function checkedBody(key: string, schema: Record<string, unknown>, body: unknown): Problem[] {
  if (typeof body === 'string') return [{ field: 'body', message: 'must be an object; this text is not JSON' }];
  return problemsOf(key, schema, body, 'body');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

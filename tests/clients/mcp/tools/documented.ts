import { readFileSync } from 'node:fs';
import type { Tool } from '@modelcontextprotocol/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type OperationId, operations } from '../../../../generated/operations.ts';

type Json = Record<string, unknown>;
type Examples = Record<string, { value: unknown }>;
type Content = Record<string, { examples?: Examples }>;
type Operation = { requestBody?: { content: Content }; responses: Record<string, { content?: Content }> };

const document = JSON.parse(readFileSync(new URL('../../../../generated/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

function operation(id: OperationId): Operation {
  const found = document.paths[operations[id].path]?.[operations[id].method.toLowerCase()];
  if (!found) throw new Error(`${id} is not in the document`);
  return found;
}

/** The examples of an operation's JSON body. */
export function bodyExamples(id: OperationId): Json[] {
  const examples = operation(id).requestBody?.content['application/json']?.examples ?? {};
  return Object.values(examples).map(({ value }) => structuredClone(value) as Json);
}

/** The first example of an operation's JSON body, or the one of a name. */
export function exampleBody(id: OperationId, name?: string): Json {
  const examples = operation(id).requestBody?.content['application/json']?.examples ?? {};
  const found = name === undefined ? Object.values(examples)[0] : examples[name];
  if (!found) throw new Error(`${id} has no example ${name ?? ''}`);
  return structuredClone(found.value) as Json;
}

/** The examples of an operation's success. */
export function answerExamples(id: OperationId): unknown[] {
  const success = Object.entries(operation(id).responses).find(([status]) => Number(status) < 400)?.[1];
  return Object.values(success?.content?.['application/json']?.examples ?? {}).map(({ value }) => value);
}

const ajv = new Ajv2020({ strict: false, allErrors: true });

/** Asserts that structured content fits the output schema of a tool, as clients check it. */
export function expectFits(tool: Tool | undefined, content: unknown): void {
  const validate = ajv.compile(tool?.outputSchema ?? false);
  validate(content);
  expect({ tool: tool?.name, errors: validate.errors ?? [] }).toEqual({ tool: tool?.name, errors: [] });
}

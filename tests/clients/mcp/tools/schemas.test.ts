import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { inputOf } from '../../../../clients/mcp/tools/arguments.ts';
import type { WrongArguments } from '../../../../clients/mcp/tools/problem.ts';
import { resultOf } from '../../../../clients/mcp/tools/results.ts';
import { type ToolRow, toolRows } from '../../../../clients/mcp/tools/table.ts';
import { argumentRow } from '../../../../clients/mcp/tools/validators.ts';
import type { OperationId } from '../../../../generated/operations.ts';
import { answerExamples, bodyExamples, expectFits } from './documented.ts';

type Json = Record<string, unknown>;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const NOBODY = '0199a3f2-0000-7000-8000-00000000dead';

/** Values for the required parameters of a tool. */
function parametersOf({ operationId }: ToolRow): Json {
  const needed = argumentRow(operationId).parameters.filter((each) => each.required);
  return Object.fromEntries(
    needed.map(({ name, schema }) => {
      if (schema.format === 'uuid') return [name, NOBODY];
      return [name, schema.type === 'integer' ? 1 : name === 'type' ? 'icon' : 'acme'];
    }),
  );
}

/** Arguments from each example of the document; without a body, those with the parameters alone. */
function argumentsOf(row: ToolRow): Json[] {
  const parameters = parametersOf(row);
  const bodies = bodyExamples(row.operationId as OperationId);
  if (argumentRow(row.operationId).file?.required) {
    return [{ ...parameters, file_base64: 'aGVsbG8=', file_name: 'SKILL.md' }];
  }
  return bodies.length > 0 ? bodies.map((body) => ({ ...parameters, body })) : [parameters];
}

const files = { folders: [] };
const rows = toolRows.map((row) => [row.tool.name, row] as const);

describe('arguments', () => {
  test.each(rows)(
    '%s: the examples of the document fit the schema that is listed, and what is checked',
    async (_, row) => {
      const listed = ajv.compile(row.tool.inputSchema);
      for (const args of argumentsOf(row)) {
        expect([listed(args), listed.errors]).toEqual([true, null]);
        await inputOf(row, args, files);
        const { body, ...others } = args;
        if (body !== undefined) await inputOf(row, { ...others, body: JSON.stringify(body) }, files);
      }
    },
  );

  test.each(rows)('%s: names what is missing and what is not known', async (_, row) => {
    const problems = await inputOf(row, { bogusArgument: 1 }, files).then(
      () => [],
      (error) => (error as WrongArguments).problems,
    );
    const fields = problems.map(({ field }) => field);
    expect(fields).toEqual(expect.arrayContaining(['bogusArgument', ...(row.tool.inputSchema.required ?? [])]));
  });
});

describe('structured content', () => {
  test.each(rows)('%s: the answers of the document fit the output schema', (_, { operationId, tool }) => {
    const answers = answerExamples(operationId as OperationId);
    for (const answer of answers.length > 0 ? answers : [undefined]) {
      expectFits(tool, resultOf(answer, { args: {}, paged: false }).structuredContent);
    }
    // A schema that lets everything through would prove nothing.
    expect(Object.keys(tool.outputSchema?.properties ?? {})).not.toEqual([]);
  });
});

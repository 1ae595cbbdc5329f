import { commandTable, type OperationCommand } from '../../../generated/commandTable.ts';
import type { OperationId } from '../../../generated/operations.ts';
import { agentWarningsText } from '../../sdk/agentWarnings.ts';
import type { AnyInput, AnyRequest, Guildhall } from '../../sdk/index.ts';
import { pagesOf } from '../api/pages.ts';
import type { Context } from '../context.ts';
import { asUsage, exitCodeOf, Failure, usage } from '../failure.ts';
import { jsonBody, readBody } from '../input.ts';
import { uploadOf } from './uploadOf.ts';
import { type Given, valuesOf } from './values.ts';

/** Runs the command of an operation. `given` is what commander collected from the flags. */
export async function runOperation(context: Context, id: OperationId, args: string[], given: Given): Promise<void> {
  const row: OperationCommand = commandTable[id];
  const path = pathOf(row, args);
  const nulls = nullsOf(row, given);
  const query = valuesOf(row.query, given, nulls);
  const missing = row.query.filter(({ name, required }) => required && !(name in query));
  if (missing.length > 0) throw needed(missing.map(({ flag }) => flag));
  const content = await contentOf(context, row, given, nulls);
  if (row.method === 'DELETE') await context.confirm(`${row.summary}: ${args.join(' ') || 'this'}. Go on?`);
  const idempotencyKey = given.idempotencyKey as string | undefined;
  const input: AnyInput = { path, query, ...content, ...(idempotencyKey !== undefined && { idempotencyKey }) };
  await answer(context, id, input, given.all === true);
}

async function answer(context: Context, id: OperationId, input: AnyInput, all: boolean): Promise<void> {
  const row: OperationCommand = commandTable[id];
  const api = await context.api();
  if (row.response === 'events') return await writeEvents(context, api, input);
  if (all) return await context.printEach(pagesOf(context, api, listRequest(row, input)), { columns: row.columns });
  let warnings: string | undefined;
  const onResponse = (response: Response) => {
    warnings = agentWarningsText(response);
  };
  const value = await api.call(id, { ...input, onResponse }).catch(asUsage);
  if (row.response === 'none') context.say('Done.');
  else await context.print(value, { columns: row.columns });
  if (warnings !== undefined) context.say(`Warnings: ${warnings}`);
}

/** Each event as one line of JSON. A turn that failed fails the command. */
async function writeEvents(context: Context, api: Guildhall, input: AnyInput): Promise<void> {
  for await (const event of api.events(input as Parameters<Guildhall['events']>[0])) {
    await context.write(`${JSON.stringify(event)}\n`);
    if (event.event !== 'error') continue;
    const { code, message, status, requestId } = event.data;
    throw new Failure(code, exitCodeOf(status), message, { status, requestId });
  }
}

function listRequest({ path }: OperationCommand, input: AnyInput): AnyRequest {
  const query = Object.entries(input.query ?? {}).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  );
  const values = input.path ?? {};
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  return { method: 'GET', path: filled, query };
}

/** The variables of the path. An empty one, `.` and `..` would make the path of another operation. */
function pathOf({ variables }: OperationCommand, args: string[]): Record<string, string> {
  return Object.fromEntries(
    variables.map(({ name, label, choices }, index) => {
      const value = args[index] ?? '';
      if (value === '' || value === '.' || value === '..')
        throw usage(`${JSON.stringify(value)} cannot be the ${label}.`);
      if (choices && !choices.includes(value))
        throw usage(`${label} is one of ${choices.join(', ')}, and not ${JSON.stringify(value)}.`);
      return [name, value];
    }),
  );
}

function nullsOf({ fields, metadata = [] }: OperationCommand, given: Given): Set<string> {
  const names = new Set((given.null as string[] | undefined) ?? []);
  const nullable = [...fields, ...metadata].filter((each) => each.nullable).map(({ flag }) => flag);
  for (const name of names)
    if (!nullable.includes(name)) throw usage(`--null ${name}: only ${nullable.join(', ')} can be null.`);
  return names;
}

async function contentOf(
  { io }: Context,
  row: OperationCommand,
  given: Given,
  nulls: ReadonlySet<string>,
): Promise<Pick<AnyInput, 'body' | 'file' | 'metadata'>> {
  if (row.file && (given.file !== undefined || row.body === 'multipart')) return await uploadOf(io, row, given, nulls);
  if (row.body === 'none') return {};
  const flags = valuesOf(row.fields, given, nulls);
  const whole = given.body === undefined ? undefined : jsonBody(await readBody(io, given.body as string)).value;
  if (whole !== undefined && (typeof whole !== 'object' || whole === null || Array.isArray(whole))) {
    if (Object.keys(flags).length > 0) throw usage('--body is no JSON object, so flags cannot be added to it.');
    return { body: whole };
  }
  const body = { ...whole, ...flags };
  const missing = row.fields.filter(({ name, required }) => required && !(name in body));
  if (missing.length > 0) throw needed(missing.map(({ flag }) => flag));
  if (Object.keys(body).length > 0 || whole !== undefined) return { body };
  if (row.bodyRequired)
    throw usage(
      'There is nothing to send.',
      `Pass at least one of ${row.fields.map(({ flag }) => `--${flag}`).join(', ')}, or --body.`,
    );
  return {};
}

function needed(flags: string[]): Error {
  return usage(`Needed: ${flags.map((flag) => `--${flag}`).join(', ')}.`, 'Add --help to see what each is.');
}

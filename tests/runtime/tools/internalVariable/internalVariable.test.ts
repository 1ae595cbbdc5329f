import { newId } from '../../../../core/ids.ts';
import { ToolFailure } from '../../../../runtime/tools/failure.ts';
import {
  type InternalVariableConfiguration,
  readVariable,
  type VariableContext,
  type VariableTool,
  writeVariable,
} from '../../../../runtime/tools/internalVariable/internalVariable.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../../../support/db/database.ts';

let setting: TestDatabase;
let ours: SeededWorkspace;
let theirs: SeededWorkspace;
let made = 0;

beforeAll(async () => {
  setting = await createTestDatabase();
  ours = await setting.seedWorkspace();
  theirs = await setting.seedWorkspace();
});

afterAll(() => setting.drop());

async function makeTool(
  fields: Partial<InternalVariableConfiguration> = {},
  { db, workspaceId } = ours,
): Promise<VariableTool> {
  const id = newId();
  const configuration: InternalVariableConfiguration = {
    name: 'stage',
    type: 'string',
    scope: 'workspace',
    writable: true,
    ...fields,
  };
  await db
    .insertInto('http_tools')
    .values({
      workspace_id: workspaceId,
      id,
      name: `tool_${++made}`,
      tool_type: 'INTERNAL_VARIABLE',
      configuration: JSON.stringify(configuration),
    })
    .execute();
  return { id, configuration };
}

async function makeConversation({ db, workspaceId } = ours): Promise<string> {
  const [agentId, id] = [newId(), newId()];
  await db
    .insertInto('agents')
    .values({ workspace_id: workspaceId, id: agentId, name: `Agent ${++made}` })
    .execute();
  await db
    .insertInto('conversations')
    .values({ workspace_id: workspaceId, id, agent_id: agentId, external_user_id: 'u' })
    .execute();
  return id;
}

function inConversation(conversationId?: string, { db, workspaceId } = ours): VariableContext {
  return { db, workspaceId, conversationId };
}

function rowsOf({ id }: VariableTool) {
  return ours.db.selectFrom('tool_variables').select(['conversation_id', 'value']).where('tool_id', '=', id).execute();
}

async function expectRefused(tool: VariableTool, value: unknown, why: string): Promise<void> {
  const error = await writeVariable(inConversation(), tool, value).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ToolFailure);
  expect((error as ToolFailure).message).toContain(why);
  expect(await rowsOf(tool)).toEqual([]);
}

describe('reading', () => {
  test('returns the default, or null, until a value is written', async () => {
    const tool = await makeTool({ type: 'object', defaultValue: { a: [1] } });
    expect(await readVariable(inConversation(), tool)).toEqual({ a: [1] });
    expect(await readVariable(inConversation(), await makeTool())).toBeNull();
    await writeVariable(inConversation(), tool, {});
    expect(await readVariable(inConversation(), tool)).toEqual({});
  });

  test('ignores a value that was written when the variable had another type', async () => {
    const tool = await makeTool({ type: 'number', defaultValue: 7 });
    await writeVariable(inConversation(), tool, 8);
    const changed = {
      ...tool,
      configuration: { ...tool.configuration, type: 'string' as const, defaultValue: 'seven' },
    };
    expect(await readVariable(inConversation(), changed)).toBe('seven');
    expect(await readVariable(inConversation(), tool)).toBe(8);
  });
});

describe('writing', () => {
  test.each<[InternalVariableConfiguration['type'], unknown]>([
    ['string', 'lead "won" \\u0000 😀'],
    ['string', ''],
    ['number', -1.5e300],
    ['number', 0],
    ['boolean', false],
    ['object', { a: { b: [1, null, 'x'] }, __proto__: 1 }],
    ['array', [1, [2], { a: null }]],
    ['array', []],
  ])('stores a value of type %s: %j', async (type, value) => {
    const tool = await makeTool({ type });
    expect(await writeVariable(inConversation(), tool, value)).toEqual(value);
    expect(await readVariable(inConversation(), tool)).toEqual(value);
  });

  test('stores nothing for a tool that was deleted meanwhile', async () => {
    const tool = await makeTool({ type: 'number' });
    await ours.db.updateTable('http_tools').set({ deleted_at: new Date() }).where('id', '=', tool.id).execute();
    await expectRefused(tool, 7, 'was not written: its tool does not exist any more');
  });

  test('replaces the stored value; of many writes at the same time one is the last', async () => {
    const tool = await makeTool({ type: 'number' });
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    await Promise.all(numbers.map((n) => writeVariable(inConversation(), tool, n)));
    const rows = await rowsOf(tool);
    expect(rows).toHaveLength(1);
    expect(numbers).toContain(rows[0]?.value);
  });

  test.each<[InternalVariableConfiguration['type'], unknown]>([
    ['string', 7],
    ['string', null],
    ['number', '7'],
    ['number', Number.NaN],
    ['number', Number.POSITIVE_INFINITY],
    ['boolean', 0],
    ['object', []],
    ['object', null],
    ['array', {}],
    ['array', 'a'],
  ])('refuses a value that is no %s: %j', async (type, value) => {
    await expectRefused(await makeTool({ type }), value, `be of type ${type}`);
  });

  test('refuses a value over 64 KiB, counted in bytes', async () => {
    const tool = await makeTool();
    await expectRefused(tool, 'x'.repeat(65_535), '65536 bytes');
    await expectRefused(tool, 'ü'.repeat(32_768), '65536 bytes');
    const largest = 'x'.repeat(65_534);
    await writeVariable(inConversation(), tool, largest);
    expect(await readVariable(inConversation(), tool)).toBe(largest);
  });

  test('refuses a value that nests too deep', async () => {
    const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
    await expectRefused(await makeTool({ type: 'array' }), nest(101), '100 levels');
    await expectRefused(await makeTool({ type: 'array' }), nest(20_000), '100 levels');
    await writeVariable(inConversation(), await makeTool({ type: 'array' }), nest(100));
  });

  test.each(['\0', 'a\u0000b', '\ud800', 'a\udc00', '\\\0'])(
    'refuses characters that cannot be stored: %j',
    async (value) => {
      await expectRefused(await makeTool(), value, 'NUL');
      await expectRefused(await makeTool({ type: 'object' }), { [value]: 1 }, 'NUL');
    },
  );

  test.each([false, undefined])('refuses a variable with writable %s', async (writable) => {
    await expectRefused(await makeTool({ writable }), 'new', 'not writable');
  });
});

describe('scope', () => {
  test('workspace: every conversation, and a test run, has the same value', async () => {
    const tool = await makeTool();
    const [one, two] = [await makeConversation(), await makeConversation()];
    await writeVariable(inConversation(one), tool, 'won');
    for (const conversation of [one, two, undefined])
      expect(await readVariable(inConversation(conversation), tool)).toBe('won');
    await writeVariable(inConversation(), tool, 'lost');
    expect(await readVariable(inConversation(two), tool)).toBe('lost');
    expect(await rowsOf(tool)).toEqual([{ conversation_id: null, value: 'lost' }]);
  });

  test('conversation: each has its own value, whatever others write', async () => {
    const tool = await makeTool({ scope: 'conversation', defaultValue: 'new' });
    const [one, two, three] = [await makeConversation(), await makeConversation(), await makeConversation()];
    await writeVariable(inConversation(one), tool, 'won');
    await writeVariable(inConversation(two), tool, 'lost');
    const values = [one, two, three].map((conversation) => readVariable(inConversation(conversation), tool));
    expect(await Promise.all(values)).toEqual(['won', 'lost', 'new']);
  });

  test('conversation, in a test run: reads the default, and checks a value without storing it', async () => {
    const tool = await makeTool({ scope: 'conversation', defaultValue: 'new' });
    const conversation = await makeConversation();
    await writeVariable(inConversation(conversation), tool, 'won');
    expect(await writeVariable(inConversation(), tool, 'tried')).toBe('tried');
    expect(await readVariable(inConversation(), tool)).toBe('new');
    expect(await readVariable(inConversation(conversation), tool)).toBe('won');
    await expect(writeVariable(inConversation(), tool, 7)).rejects.toThrow('be of type string');
  });

  test("another workspace's tool has no value here, and takes none", async () => {
    const tool = await makeTool({}, theirs);
    await writeVariable(inConversation(undefined, theirs), tool, 'theirs');
    expect(await readVariable(inConversation(), tool)).toBeNull();
    await expectRefused(tool, 'ours', 'its tool does not exist any more');
    expect(await readVariable(inConversation(undefined, theirs), tool)).toBe('theirs');
  });

  test('values are deleted with their conversation and with their tool', async () => {
    const tool = await makeTool({ scope: 'conversation' });
    const [one, two] = [await makeConversation(), await makeConversation()];
    for (const conversation of [one, two]) await writeVariable(inConversation(conversation), tool, 'x');
    await ours.db.deleteFrom('conversations').where('id', '=', one).execute();
    expect((await rowsOf(tool)).map((row) => row.conversation_id)).toEqual([two]);
    await ours.db.deleteFrom('http_tools').where('id', '=', tool.id).execute();
    expect(await rowsOf(tool)).toEqual([]);
  });
});

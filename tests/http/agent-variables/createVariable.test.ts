import { isUuid, newId } from '../../../core/ids.ts';
import {
  makeAgent,
  makeReadyAgent,
  makeVariable,
  publish,
  readAgent,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const create = (agentId: string, body: object, key?: string) =>
  app.api('post', `/agents/${agentId}/prompt/variables`, key).send(body);
const list = async (agentId: string) => (await app.api('get', `/agents/${agentId}/prompt/variables`)).body;

const OPTIONS = [
  { label: 'Formal', injectedText: 'Write formally.' },
  { label: 'Casual', injectedText: 'Write as to a friend.' },
];

/** Asserts that the request is refused with this status and code, and that the agent has no variable and no unpublished change. */
async function expectRefused(body: object, status: number, code: string): Promise<void> {
  const agent = await makeAgent(app);
  const answer = await create(agent.publicId, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await list(agent.publicId)).toEqual([]);
  expect(await readAgent(app, agent.publicId)).toEqual(agent);
}

describe('201', () => {
  test('a name, a label and a type are enough', async () => {
    const agent = await makeAgent(app);
    const { status, body } = await create(agent.publicId, { name: 'city', label: 'City', type: 'text_short' });
    expect(status).toBe(201);
    const now = app.clock.now().toISOString();
    expect(body).toEqual({
      publicId: expect.any(String),
      name: 'city',
      label: 'City',
      description: null,
      type: 'text_short',
      required: false,
      defaultValue: null,
      options: null,
      multiChoiceSeparator: null,
      booleanTextWhenTrue: null,
      booleanTextWhenFalse: null,
      sortOrder: 0,
      createdAt: now,
      updatedAt: now,
    });
    expect(isUuid(body.publicId)).toBe(true);
    expect(await list(agent.publicId)).toEqual([body]);
  });

  test.each([
    ['text_short', 'x'.repeat(500)],
    ['text_short', ''],
    ['text_long', 'x'.repeat(10_000)],
    ['text_long', '{"not": "JSON"} {{nested}} \\ "'],
    ['number', -1.5],
    ['number', 0],
    ['date', '2028-02-29'],
    ['time', '23:59'],
    ['time', '23:59:59'],
    ['datetime', '2026-11-21T08:00:00+02:00'],
    ['bool', false],
    ['bool', true],
  ])('a default of type %s is stored unchanged: %j', async (type, defaultValue) => {
    const agent = await makeAgent(app);
    const { status, body } = await create(agent.publicId, { name: 'a', label: 'A', type, defaultValue });
    expect([status, body.defaultValue]).toEqual([201, defaultValue]);
    expect((await list(agent.publicId))[0].defaultValue).toEqual(defaultValue);
  });

  test('null means no default and no options', async () => {
    const agent = await makeAgent(app);
    const nothing = { description: null, defaultValue: null, options: null, booleanTextWhenTrue: null };
    const { status, body } = await create(agent.publicId, { name: 'a', label: 'A', type: 'bool', ...nothing });
    expect(status).toBe(201);
    expect(body).toMatchObject(nothing);
  });

  test('options get ids, and without a sortOrder their position in the list', async () => {
    const agent = await makeAgent(app);
    const variable = { name: 'tone', label: 'Tone', type: 'single_choice', options: OPTIONS, defaultValue: 'Casual' };
    const { status, body } = await create(agent.publicId, variable);
    expect(status).toBe(201);
    expect(body.options).toEqual([
      { publicId: expect.any(String), ...OPTIONS[0], sortOrder: 0 },
      { publicId: expect.any(String), ...OPTIONS[1], sortOrder: 1 },
    ]);
    const ids = body.options.map(({ publicId }: { publicId: string }) => publicId);
    expect(ids.every(isUuid)).toBe(true);
    expect(new Set([body.publicId, ...ids]).size).toBe(3);
    expect(body.defaultValue).toBe('Casual');
    expect(await list(agent.publicId)).toEqual([body]);
  });

  test('options are sorted by sortOrder; equal ones keep the order of the list', async () => {
    const agent = await makeAgent(app);
    const options = [
      { label: 'd', injectedText: 'D', sortOrder: 9 },
      { label: 'b', injectedText: 'B' },
      { label: 'c', injectedText: 'C', sortOrder: 1 },
      { label: 'a', injectedText: 'A', sortOrder: 0 },
    ];
    const { body } = await create(agent.publicId, { name: 'a', label: 'A', type: 'single_choice', options });
    const seen = body.options.map(({ label, sortOrder }: { label: string; sortOrder: number }) => [label, sortOrder]);
    expect(seen).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 1],
      ['d', 9],
    ]);
  });

  test('the default separator of a multiple choice is a comma and a space', async () => {
    const agent = await makeAgent(app);
    const choice = { label: 'A', type: 'multi_choice', options: OPTIONS };
    const plain = await create(agent.publicId, { name: 'plain', ...choice, defaultValue: ['Formal', 'Casual'] });
    expect(plain.body).toMatchObject({ multiChoiceSeparator: ', ', defaultValue: ['Formal', 'Casual'] });
    const none = await create(agent.publicId, { name: 'none', ...choice, multiChoiceSeparator: '' });
    expect(none.body.multiChoiceSeparator).toBe('');
    const dash = await create(agent.publicId, { name: 'dash', ...choice, multiChoiceSeparator: ' - ' });
    expect(dash.body.multiChoiceSeparator).toBe(' - ');
  });

  test('fields of other types are not stored', async () => {
    const agent = await makeAgent(app);
    const extra = { multiChoiceSeparator: ';', booleanTextWhenTrue: 'yes', booleanTextWhenFalse: 'no' };
    const text = await create(agent.publicId, { name: 'text', label: 'A', type: 'text_short', ...extra, options: [] });
    expect(text.status).toBe(201);
    expect(text.body).toMatchObject({
      options: null,
      multiChoiceSeparator: null,
      booleanTextWhenTrue: null,
      booleanTextWhenFalse: null,
    });
    const bool = await create(agent.publicId, { name: 'bool', label: 'A', type: 'bool', ...extra });
    expect(bool.body).toMatchObject({ ...extra, multiChoiceSeparator: null });
  });

  test('two agents may have variables of the same name', async () => {
    const [one, two] = [await makeAgent(app), await makeAgent(app)];
    await makeVariable(app, one.publicId, { name: 'same' });
    expect((await create(two.publicId, { name: 'same', label: 'A', type: 'bool' })).status).toBe(201);
  });

  test('a new variable is an unpublished change', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    await makeVariable(app, agent.publicId);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
  });
});

describe('400 VALIDATION_ERROR', () => {
  const valid = { name: 'city', label: 'City', type: 'text_short' };
  test.each([
    ['a name that begins with a digit', { ...valid, name: '1st' }],
    ['a name with upper case', { ...valid, name: 'City' }],
    ['a name with a hyphen', { ...valid, name: 'home-town' }],
    ['a name with a line break at its end', { ...valid, name: 'city\n' }],
    ['a name of 51 characters', { ...valid, name: 'x'.repeat(51) }],
    ['an unknown type', { ...valid, type: 'colour' }],
    ['a missing type', { name: 'city', label: 'City' }],
    ['an empty label', { ...valid, label: '' }],
    ['a sortOrder that is no integer', { ...valid, sortOrder: 1.5 }],
    ['51 options', { ...valid, type: 'single_choice', options: Array(51).fill({ label: 'a', injectedText: 'A' }) }],
    ['an option without text', { ...valid, type: 'single_choice', options: [{ label: 'a' }] }],
    ['an option with an id', { ...valid, type: 'single_choice', options: [{ ...OPTIONS[0], publicId: newId() }] }],
    [
      'a separator of 11 characters',
      { ...valid, type: 'multi_choice', options: OPTIONS, multiChoiceSeparator: 'x'.repeat(11) },
    ],
  ])('refuses %s', async (_what, body) => {
    await expectRefused(body, 400, 'VALIDATION_ERROR');
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist, and gets no variable", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const variable = { name: 'city', label: 'City', type: 'text_short' };
    const missing = await create(newId(), variable);
    const { status, body } = await create(foreign.publicId, variable);
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    const theirs = await app.api('get', `/agents/${foreign.publicId}/prompt/variables`, app.stranger.apiKey);
    expect(theirs.body).toEqual([]);
  });
});

describe('409 VARIABLE_NAME_TAKEN', () => {
  test('names are unique in an agent', async () => {
    const agent = await makeAgent(app);
    const first = await makeVariable(app, agent.publicId, { name: 'city' });
    const { status, body } = await create(agent.publicId, { name: 'city', label: 'Again', type: 'bool' });
    expect([status, body.code]).toEqual([409, 'VARIABLE_NAME_TAKEN']);
    expect(await list(agent.publicId)).toEqual([first]);
  });

  test('of two concurrent requests one gets the name', async () => {
    const agent = await makeAgent(app);
    const variable = { name: 'city', label: 'City', type: 'text_short' };
    const answers = await Promise.all([1, 2, 3, 4].map(() => create(agent.publicId, variable)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await list(agent.publicId)).toHaveLength(1);
  });
});

describe('422 VARIABLE_OPTIONS_INVALID', () => {
  test.each([
    ['a choice without options', { type: 'single_choice' }],
    ['a choice with an empty list', { type: 'multi_choice', options: [] }],
    ['options of a type that has none', { type: 'text_short', options: OPTIONS }],
    ['two options with one label', { type: 'single_choice', options: [OPTIONS[0], OPTIONS[0]] }],
  ])('refuses %s', async (_what, body) => {
    await expectRefused({ name: 'a', label: 'A', ...body }, 422, 'VARIABLE_OPTIONS_INVALID');
  });
});

describe('422 VARIABLE_DEFAULT_INVALID', () => {
  test.each([
    ['text_short', 'x'.repeat(501)],
    ['text_short', 7],
    ['text_long', 'x'.repeat(10_001)],
    ['number', '7'],
    ['number', {}],
    ['date', '2026-02-29'],
    ['date', '2026-1-1'],
    ['time', '24:00'],
    ['datetime', '2026-11-21'],
    ['bool', 'true'],
    ['bool', 1],
  ])('refuses a default that is no %s: %j', async (type, defaultValue) => {
    await expectRefused({ name: 'a', label: 'A', type, defaultValue }, 422, 'VARIABLE_DEFAULT_INVALID');
  });

  test.each([
    ['single_choice', 'Rude'],
    ['single_choice', ['Formal']],
    ['multi_choice', 'Formal'],
    ['multi_choice', ['Formal', 'Formal']],
    ['multi_choice', ['Rude']],
  ])('refuses a default of %s that its options do not have: %j', async (type, defaultValue) => {
    const body = { name: 'a', label: 'A', type, options: OPTIONS, defaultValue };
    await expectRefused(body, 422, 'VARIABLE_DEFAULT_INVALID');
  });
});

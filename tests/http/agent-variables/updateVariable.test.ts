import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import {
  makeAgent,
  makeReadyAgent,
  makeVariable,
  publish,
  readAgent,
  withoutRequestId,
} from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';

type Variable = components['schemas']['AgentVariable'];
type Fields = Partial<components['schemas']['AgentVariableCreate']>;

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const OPTIONS = [
  { label: 'Formal', injectedText: 'Write formally.' },
  { label: 'Casual', injectedText: 'Write as to a friend.' },
];

const change = (agentId: string, variableId: string, body: object) =>
  app.api('patch', `/agents/${agentId}/prompt/variables/${variableId}`).send(body);
const list = async (agentId: string, key?: string) =>
  (await app.api('get', `/agents/${agentId}/prompt/variables`, key)).body;

/** An agent with one variable. */
async function make(
  fields: Fields,
  systemPrompt: string | null = null,
): Promise<{ agentId: string; variable: Variable }> {
  const agent = await makeAgent(app, { systemPrompt });
  return { agentId: agent.publicId, variable: await makeVariable(app, agent.publicId, fields) };
}

/** Asserts that the change is refused with this status and code, and that the variable is unchanged. */
async function expectRefused(fields: Fields, body: object, status: number, code: string): Promise<void> {
  const { agentId, variable } = await make(fields);
  const answer = await change(agentId, variable.publicId, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await list(agentId)).toEqual([variable]);
}

describe('200', () => {
  test('changes the fields of the request and keeps the others', async () => {
    const { agentId, variable } = await make({ label: 'Old', description: 'Help', defaultValue: 'x', sortOrder: 3 });
    clock.advance(1000);
    const { status, body } = await change(agentId, variable.publicId, { label: 'New', required: true });
    expect(status).toBe(200);
    expect(body).toEqual({ ...variable, label: 'New', required: true, updatedAt: clock.now().toISOString() });
    expect(body.updatedAt).not.toBe(variable.updatedAt);
    expect(await list(agentId)).toEqual([body]);
  });

  test('null clears the description and the default', async () => {
    const { agentId, variable } = await make({ description: 'Help', defaultValue: 'x' });
    const { body } = await change(agentId, variable.publicId, { description: null, defaultValue: null });
    expect(body).toMatchObject({ description: null, defaultValue: null, label: variable.label });
  });

  test('references in the prompt keep the old name', async () => {
    const { agentId, variable } = await make({ name: 'before' }, 'Hi {{before}}.');
    const { body } = await change(agentId, variable.publicId, { name: 'after' });
    expect(body).toMatchObject({ publicId: variable.publicId, name: 'after' });
    expect((await readAgent(app, agentId)).systemPrompt).toBe('Hi {{before}}.');
  });

  test('a variable keeps its own name without a conflict', async () => {
    const { agentId, variable } = await make({ name: 'mine' });
    expect((await change(agentId, variable.publicId, { name: 'mine' })).status).toBe(200);
  });

  test('options replace the whole set and get new ids', async () => {
    const { agentId, variable } = await make({ type: 'single_choice', options: OPTIONS, defaultValue: 'Formal' });
    const options = [{ label: 'Curt', injectedText: 'Be curt.' }, OPTIONS[0]];
    const { status, body } = await change(agentId, variable.publicId, { options });
    expect(status).toBe(200);
    expect(body.options).toEqual([
      { publicId: expect.any(String), ...options[0], sortOrder: 0 },
      { publicId: expect.any(String), ...options[1], sortOrder: 1 },
    ]);
    const former = variable.options?.map(({ publicId }) => publicId);
    for (const { publicId } of body.options) expect(former).not.toContain(publicId);
    expect(body.defaultValue).toBe('Formal');
  });

  test('a request without options keeps them and their ids', async () => {
    const { agentId, variable } = await make({ type: 'multi_choice', options: OPTIONS, multiChoiceSeparator: '/' });
    const id = variable.options?.[1]?.publicId;
    const { body } = await change(agentId, variable.publicId, { defaultValue: [id] });
    expect(body).toMatchObject({ options: variable.options, defaultValue: [id], multiChoiceSeparator: '/' });
  });

  test('options of null take all away, which a choice refuses', async () => {
    const { agentId, variable } = await make({ type: 'single_choice', options: OPTIONS });
    const refused = await change(agentId, variable.publicId, { options: null });
    expect([refused.status, refused.body.code]).toEqual([422, 'VARIABLE_OPTIONS_INVALID']);
    const { status, body } = await change(agentId, variable.publicId, { type: 'text_short', options: null });
    expect([status, body.options]).toEqual([200, null]);
  });

  test('null resets the separator to a comma and a space, and makes texts null', async () => {
    const multi = await make({ type: 'multi_choice', options: OPTIONS, multiChoiceSeparator: '/' });
    const cleared = await change(multi.agentId, multi.variable.publicId, { multiChoiceSeparator: null });
    expect(cleared.body.multiChoiceSeparator).toBe(', ');
    const bool = await make({ type: 'bool', booleanTextWhenTrue: 'yes', booleanTextWhenFalse: 'no' });
    const { body } = await change(bool.agentId, bool.variable.publicId, { booleanTextWhenTrue: null });
    expect(body).toMatchObject({ booleanTextWhenTrue: null, booleanTextWhenFalse: 'no' });
  });

  test('a change of type drops the fields that only the old type has, for good', async () => {
    const multi = await make({ type: 'multi_choice', options: OPTIONS, multiChoiceSeparator: '/' });
    const asText = await change(multi.agentId, multi.variable.publicId, { type: 'text_short' });
    expect(asText.status).toBe(200);
    expect(asText.body).toMatchObject({ type: 'text_short', options: null, multiChoiceSeparator: null });
    const again = { type: 'multi_choice', options: OPTIONS };
    expect((await change(multi.agentId, multi.variable.publicId, again)).body.multiChoiceSeparator).toBe(', ');

    const bool = await make({ type: 'bool', booleanTextWhenTrue: 'yes', booleanTextWhenFalse: 'no' });
    const asNumber = await change(bool.agentId, bool.variable.publicId, { type: 'number', defaultValue: 4 });
    expect(asNumber.body).toMatchObject({ defaultValue: 4, booleanTextWhenTrue: null, booleanTextWhenFalse: null });
  });

  test('a change from one kind of choice to the other keeps the options and their ids', async () => {
    const { agentId, variable } = await make({ type: 'single_choice', options: OPTIONS });
    const { status, body } = await change(agentId, variable.publicId, { type: 'multi_choice' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ type: 'multi_choice', options: variable.options, multiChoiceSeparator: ', ' });
  });

  test('a default that fits the new type too may stay', async () => {
    const { agentId, variable } = await make({ type: 'text_short', defaultValue: '2026-11-21' });
    const { status, body } = await change(agentId, variable.publicId, { type: 'date' });
    expect([status, body.defaultValue]).toEqual([200, '2026-11-21']);
  });

  test.each([
    { name: 'renamed' },
    { label: 'New' },
    { description: 'New' },
    { type: 'text_long' },
    { required: true },
    { defaultValue: 'New' },
    { sortOrder: 7 },
  ])('a change to %j is unpublished', async (body) => {
    const agent = await makeReadyAgent(app);
    const variable = await makeVariable(app, agent.publicId);
    await publish(app, agent.publicId);
    await change(agent.publicId, variable.publicId, body).expect(200);
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(true);
  });

  test('a reverted change is not unpublished', async () => {
    const agent = await makeReadyAgent(app);
    const variable = await makeVariable(app, agent.publicId, { label: 'Old' });
    await publish(app, agent.publicId);
    await change(agent.publicId, variable.publicId, { label: 'New' });
    await change(agent.publicId, variable.publicId, { label: 'Old' });
    expect((await readAgent(app, agent.publicId)).hasUnpublishedChanges).toBe(false);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['a name with upper case', { name: 'City' }],
    ['null as name', { name: null }],
    ['null as type', { type: null }],
    ['null as required', { required: null }],
    ['a negative sortOrder', { sortOrder: -1 }],
    ['a field that variables do not have', { label: 'New', publicId: newId() }],
  ])('refuses %s', async (_what, body) => {
    await expectRefused({}, body, 400, 'VALIDATION_ERROR');
  });
});

describe('404 AGENT_NOT_FOUND', () => {
  test("another workspace's agent is treated as one that does not exist, and keeps its variable", async () => {
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const variable = await makeVariable(app, foreign.publicId, {}, app.stranger.apiKey);
    const missing = await change(newId(), variable.publicId, { label: 'Stolen' });
    const { status, body } = await change(foreign.publicId, variable.publicId, { label: 'Stolen' });
    expect([status, body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
    expect(withoutRequestId(body)).toEqual(withoutRequestId(missing.body));
    expect(await list(foreign.publicId, app.stranger.apiKey)).toEqual([variable]);
  });
});

describe('404 VARIABLE_NOT_FOUND', () => {
  test('an unknown variable, one of another agent and one of another workspace get the same response', async () => {
    const agent = await makeAgent(app);
    const other = await make({});
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    const theirs = await makeVariable(app, foreign.publicId, {}, app.stranger.apiKey);
    const missing = await change(agent.publicId, newId(), { label: 'New' });
    expect([missing.status, missing.body.code]).toEqual([404, 'VARIABLE_NOT_FOUND']);
    for (const id of [other.variable.publicId, theirs.publicId]) {
      const answer = await change(agent.publicId, id, { label: 'New' });
      expect(answer.status).toBe(404);
      expect(withoutRequestId(answer.body)).toEqual(withoutRequestId(missing.body));
    }
    expect(await list(other.agentId)).toEqual([other.variable]);
  });
});

describe('409 VARIABLE_NAME_TAKEN', () => {
  test('a name that another variable of the agent has is refused', async () => {
    const { agentId, variable } = await make({ name: 'one' });
    const two = await makeVariable(app, agentId, { name: 'two' });
    const { status, body } = await change(agentId, two.publicId, { name: 'one', label: 'New' });
    expect([status, body.code]).toEqual([409, 'VARIABLE_NAME_TAKEN']);
    expect(await list(agentId)).toEqual([variable, two]);
  });
});

describe('422 VARIABLE_OPTIONS_INVALID', () => {
  const choice: Fields = { type: 'single_choice', options: OPTIONS };
  test('a choice keeps at least one option', () =>
    expectRefused(choice, { options: [] }, 422, 'VARIABLE_OPTIONS_INVALID'));
  test('labels stay distinct', () =>
    expectRefused(choice, { options: [OPTIONS[0], OPTIONS[0]] }, 422, 'VARIABLE_OPTIONS_INVALID'));
  test('a type without options takes none', () =>
    expectRefused({}, { options: OPTIONS }, 422, 'VARIABLE_OPTIONS_INVALID'));
  test('a text becomes a choice only with options', () =>
    expectRefused({}, { type: 'single_choice' }, 422, 'VARIABLE_OPTIONS_INVALID'));
});

describe('422 VARIABLE_DEFAULT_INVALID', () => {
  test('a new default must fit the type', () =>
    expectRefused({ type: 'number' }, { defaultValue: 'seven' }, 422, 'VARIABLE_DEFAULT_INVALID'));
  test('a type that the default does not fit needs another default in the same request', async () => {
    const text: Fields = { type: 'text_short', defaultValue: 'seven' };
    await expectRefused(text, { type: 'number' }, 422, 'VARIABLE_DEFAULT_INVALID');
    const { agentId, variable } = await make(text);
    expect((await change(agentId, variable.publicId, { type: 'number', defaultValue: null })).status).toBe(200);
  });
  test('new options must still have the default', () =>
    expectRefused(
      { type: 'single_choice', options: OPTIONS, defaultValue: 'Formal' },
      { options: [OPTIONS[1]] },
      422,
      'VARIABLE_DEFAULT_INVALID',
    ));
  test('a default that names options by id cannot remain when these are replaced', async () => {
    const { agentId, variable } = await make({ type: 'single_choice', options: OPTIONS });
    await change(agentId, variable.publicId, { defaultValue: variable.options?.[0]?.publicId }).expect(200);
    const { status, body } = await change(agentId, variable.publicId, { options: OPTIONS });
    expect([status, body.code]).toEqual([422, 'VARIABLE_DEFAULT_INVALID']);
  });
});

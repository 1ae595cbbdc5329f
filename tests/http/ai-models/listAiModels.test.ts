import type { components } from '../../../generated/api.ts';
import { BUILTIN_MODEL, globalModelId } from '../../../runtime/models/catalogue.ts';
import { addModel } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

type AiModel = components['schemas']['AiModel'];

let app: TestApp;
let own: { sketch: string; text: string; retired: string };
beforeAll(async () => {
  app = await startTestApp({
    models: {
      retries: 0,
      anthropic: { apiKey: 'test' },
      openaiCompatible: { baseUrl: 'http://127.0.0.1:9/v1', models: ['zeta', 'alpha'] },
    },
  });
  own = {
    sketch: await addModel(app.workspace, {
      name: 'Sketch',
      description: 'Sees.',
      icon_url: 'https://acme.example/icon.svg',
      model_id: 'sketch-1',
      supports_image: true,
      supports_temperature: false,
      input_cost_per_1m_tokens: 0.25,
    }),
    text: await addModel(app.workspace, { name: 'Text', display_provider: 'Anthropic', supports_document: true }),
    retired: await addModel(app.workspace, { name: 'Retired', active: false }),
  };
});
afterAll(() => app.close());

async function list(query = ''): Promise<AiModel[]> {
  const { status, body } = await app.api('get', `/ai-models${query}`);
  expect(status).toBe(200);
  return body;
}

const namesOf = (models: AiModel[]) => models.map(({ name }) => name);

describe('200', () => {
  test('lists what can be used now: models of configured providers, the built-in one, and active ones of the workspace', async () => {
    const models = await list();
    expect(models.every(({ active }) => active)).toBe(true);
    expect(new Set(models.map(({ provider }) => provider))).toEqual(
      new Set(['anthropic', 'openai-compatible', 'builtin']),
    );
    expect(namesOf(models)).toEqual(expect.arrayContaining([BUILTIN_MODEL.name, 'alpha', 'zeta', 'Sketch', 'Text']));
    expect(namesOf(models)).not.toContain('Retired');
  });

  test('activeOnly=false also lists the others, with `active` false', async () => {
    const models = await list('?activeOnly=false');
    const states = Object.fromEntries(models.map(({ publicId, active }) => [publicId, active]));
    expect(states[own.retired]).toBe(false);
    expect(states[own.sketch]).toBe(true);
    const openai = models.filter(({ provider }) => provider === 'openai');
    expect(openai.length).toBeGreaterThan(5);
    expect(openai.some(({ active }) => active)).toBe(false);
  });

  test('stands in the order of displayProvider and then name, also where a model of the workspace joins a provider', async () => {
    const models = await list('?activeOnly=false');
    const groups = [...new Set(models.map(({ displayProvider }) => displayProvider))];
    expect(groups).toEqual(['Acme', 'Anthropic', 'Google', 'Guildhall', 'OpenAI', 'OpenAI-compatible']);
    const placeOf = (name: string) => namesOf(models).indexOf(name);
    const anthropic = namesOf(models.filter(({ displayProvider }) => displayProvider === 'Anthropic'));
    expect(anthropic.at(-1)).toBe('Text');
    expect(anthropic).toEqual([...anthropic].sort());
    expect(placeOf('Retired')).toBeLessThan(placeOf('Sketch'));
    expect(placeOf('alpha')).toBeLessThan(placeOf('zeta'));
  });

  test("shows a model of the workspace's own in full, and nothing else of it", async () => {
    const model = (await list()).find(({ publicId }) => publicId === own.sketch);
    expect(model).toEqual({
      publicId: own.sketch,
      name: 'Sketch',
      description: 'Sees.',
      scope: 'workspace',
      active: true,
      provider: 'builtin',
      displayProvider: 'Acme',
      modelId: 'sketch-1',
      iconUrl: 'https://acme.example/icon.svg',
      contextWindow: 8000,
      supportsTemperature: false,
      minTemperature: null,
      maxTemperature: null,
      supportsThinking: true,
      supportsImage: true,
      supportsDocument: false,
      inputCostPer1MTokens: 0.25,
      outputCostPer1MTokens: 3,
      createdAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T.*Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T.*Z$/),
    });
  });

  test('shows models of the catalogue with exactly the same fields', async () => {
    const models = await list('?activeOnly=false');
    const fields = Object.keys(models.find(({ publicId }) => publicId === own.sketch) ?? {}).sort();
    for (const model of models) expect(Object.keys(model).sort()).toEqual(fields);
    const haiku = models.find(({ publicId }) => publicId === globalModelId('anthropic', 'claude-haiku-4-5'));
    expect(haiku).toMatchObject({
      name: 'Claude Haiku 4.5',
      scope: 'global',
      contextWindow: 200_000,
      minTemperature: 0,
      maxTemperature: 1,
      inputCostPer1MTokens: 1,
      outputCostPer1MTokens: 5,
    });
  });

  test("prices of the operator's own server are not known, so they are null and not 0", async () => {
    const alpha = (await list()).find(({ name }) => name === 'alpha');
    expect(alpha).toMatchObject({ inputCostPer1MTokens: null, outputCostPer1MTokens: null });
    const builtin = (await list()).find(({ provider, scope }) => provider === 'builtin' && scope === 'global');
    expect(builtin).toMatchObject({ inputCostPer1MTokens: 0, outputCostPer1MTokens: 0 });
  });

  test('provider takes only that one by its key, and an unknown key gives an empty list', async () => {
    expect(namesOf(await list('?provider=openai-compatible'))).toEqual(['alpha', 'zeta']);
    expect(await list('?provider=openai')).toEqual([]);
    expect((await list('?provider=openai&activeOnly=false')).length).toBeGreaterThan(5);
    expect(await list('?provider=OpenAI&activeOnly=false')).toEqual([]);
    expect(await list('?provider=nobody')).toEqual([]);
  });

  test('scope takes the catalogue or the workspace’s own', async () => {
    expect(namesOf(await list('?scope=workspace'))).toEqual(['Sketch', 'Text']);
    const global = await list('?scope=global');
    expect(new Set(global.map(({ scope }) => scope))).toEqual(new Set(['global']));
    expect(global.length + 2).toBe((await list()).length);
  });

  test('supportsImage and supportsDocument take either kind', async () => {
    expect(namesOf(await list('?scope=workspace&supportsImage=true'))).toEqual(['Sketch']);
    expect(namesOf(await list('?scope=workspace&supportsImage=false'))).toEqual(['Text']);
    expect(namesOf(await list('?scope=workspace&supportsDocument=true'))).toEqual(['Text']);
    expect(namesOf(await list('?scope=workspace&supportsDocument=false'))).toEqual(['Sketch']);
  });

  test('filters combine', async () => {
    expect(await list('?scope=workspace&supportsImage=true&supportsDocument=true')).toEqual([]);
    const both = await list('?provider=anthropic&supportsImage=true&supportsDocument=true&activeOnly=true');
    expect(both.length).toBeGreaterThan(0);
    expect(both.every((model) => model.provider === 'anthropic' && model.supportsImage)).toBe(true);
  });

  test('models of another workspace and removed ones do not exist', async () => {
    const foreign = await addModel(app.stranger);
    const removed = await addModel(app.workspace, { deleted_at: app.clock.now() });
    const ids = (await list('?activeOnly=false')).map(({ publicId }) => publicId);
    expect(ids).not.toContain(foreign);
    expect(ids).not.toContain(removed);
    const theirs = await app.api('get', '/ai-models?scope=workspace', app.stranger.apiKey);
    expect(theirs.body.map(({ publicId }: AiModel) => publicId)).toEqual([foreign]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each(['activeOnly=perhaps', 'scope=galaxy', 'provider=', 'supportsImage=2', 'page=1'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await app.api('get', `/ai-models?${query}`);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );
});

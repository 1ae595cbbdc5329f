import { DEFAULT_RETRIES, modelSettingsFromEnv } from '../../../runtime/models/settings.ts';

describe('modelSettingsFromEnv', () => {
  test('an empty environment configures no provider', () => {
    expect(modelSettingsFromEnv({})).toEqual({ retries: DEFAULT_RETRIES });
  });

  test('blank values count as absent', () => {
    expect(modelSettingsFromEnv({ OPENAI_API_KEY: '  ', OPENAI_COMPATIBLE_BASE_URL: '' })).toEqual({
      retries: DEFAULT_RETRIES,
    });
  });

  test('reads every provider, trims, and drops a trailing slash and repeated model ids', () => {
    expect(
      modelSettingsFromEnv({
        OPENAI_API_KEY: ' k1 ',
        OPENAI_BASE_URL: 'https://proxy.example/v1/',
        ANTHROPIC_API_KEY: 'k2',
        ANTHROPIC_BASE_URL: 'https://other.example/v1',
        GOOGLE_GENERATIVE_AI_API_KEY: 'k3',
        OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:11434/v1',
        OPENAI_COMPATIBLE_API_KEY: 'k4',
        OPENAI_COMPATIBLE_MODELS: 'llama, qwen ,,llama',
      }),
    ).toEqual({
      openai: { apiKey: 'k1', baseUrl: 'https://proxy.example/v1' },
      anthropic: { apiKey: 'k2', baseUrl: 'https://other.example/v1' },
      google: { apiKey: 'k3' },
      openaiCompatible: { baseUrl: 'http://127.0.0.1:11434/v1', apiKey: 'k4', models: ['llama', 'qwen'] },
      retries: DEFAULT_RETRIES,
    });
  });

  test('a base URL that is no http address is named, but not repeated', () => {
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'file:///etc/secret' };
    expect(() => modelSettingsFromEnv(env)).toThrow('OPENAI_BASE_URL must be an http or https address.');
  });
});

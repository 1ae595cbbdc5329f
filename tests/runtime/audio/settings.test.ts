import { modelSettingsFromEnv } from '../../../runtime/models/settings.ts';

const CONFIGURED = { OPENAI_API_KEY: 'k', OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:8000/v1' };

test('environment variables name the models for transcription and speech', () => {
  expect(
    modelSettingsFromEnv({
      ...CONFIGURED,
      GUILDHALL_TRANSCRIPTION_MODEL: ' openai/whisper-1 ',
      GUILDHALL_SPEECH_MODEL: 'openai-compatible/org/voice',
    }),
  ).toMatchObject({
    transcription: { provider: 'openai', modelId: 'whisper-1' },
    speech: { provider: 'openai-compatible', modelId: 'org/voice' },
  });
  expect(modelSettingsFromEnv({ ...CONFIGURED, GUILDHALL_SPEECH_MODEL: ' ' })).not.toHaveProperty('speech');
});

test.each(['GUILDHALL_TRANSCRIPTION_MODEL', 'GUILDHALL_SPEECH_MODEL'])(
  '%s that cannot be used stops the start',
  (name) => {
    for (const value of ['whisper-1', 'anthropic/claude', 'openai/']) {
      expect(() => modelSettingsFromEnv({ ...CONFIGURED, [name]: value })).toThrow(`${name} must be openai/<model>`);
    }
    expect(() => modelSettingsFromEnv({ ...CONFIGURED, [name]: 'google/x' })).toThrow(
      `${name} names a model of google, and that provider is not configured.`,
    );
  },
);

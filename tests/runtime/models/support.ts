import type { ModelCall } from '../../../runtime/models/call.ts';
import {
  findGlobalModel,
  globalModelId,
  type ModelDescriptor,
  type ModelProvider,
} from '../../../runtime/models/catalogue.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';

/** One model of each provider that has a wire format. */
export const WIRES: readonly (readonly [ModelProvider, string])[] = [
  ['openai', 'gpt-5.4'],
  ['openai-compatible', 'local-model'],
  ['anthropic', 'claude-opus-4-6'],
  ['google', 'gemini-3.8-flash'],
];

/** A model of the catalogue; fails the test when it is not there. */
export function modelOf(settings: ModelSettings, provider: ModelProvider, modelId: string): ModelDescriptor {
  const model = findGlobalModel(settings, globalModelId(provider, modelId));
  if (model === undefined) throw new Error(`The catalogue has no ${provider}/${modelId}.`);
  return model;
}

/** The workspace that asks, if a test names none. */
export const WORKSPACE = '019b0000-0000-7000-8000-000000000001';

/** A short question to a model. */
export function ask(model: ModelDescriptor, more: Partial<ModelCall> = {}): ModelCall {
  const messages = [{ role: 'user' as const, content: 'What is the capital of France, please?' }];
  return { workspaceId: WORKSPACE, model, messages, ...more };
}

/** What a promise was rejected with; fails the test when it was not. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string; status?: number }> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error as Error & { code?: string; status?: number },
  );
  if (outcome === undefined) throw new Error('The promise was fulfilled.');
  return outcome;
}

/** What `useModelServer` started. Read it in hooks and tests: before them nothing is there yet. */
export interface ModelServerInUse {
  /** Answers as every provider; reset before each test. */
  readonly server: ModelServer;
  /** With them, models are asked of `server`. */
  readonly settings: ModelSettings;
}

/** Gives a test file a server that answers as every provider, for as long as its tests run. */
export function useModelServer(): ModelServerInUse {
  let server: ModelServer;
  let settings: ModelSettings;

  beforeAll(async () => {
    server = await startModelServer();
    settings = server.settings();
  });
  beforeEach(() => server.reset());
  afterAll(() => server.close());

  return {
    get server() {
      return server;
    },
    get settings() {
      return settings;
    },
  };
}

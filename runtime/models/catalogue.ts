import { readFileSync } from 'node:fs';
import { v5 } from 'uuid';
import { KnownWindows } from './knownWindows.ts';
import type { ModelSettings } from './settings.ts';

/** The kinds of provider. */
export type ModelProvider = 'openai' | 'anthropic' | 'google' | 'openai-compatible' | 'builtin';

/** Details of a price in USD per million tokens; absent = the plain prices apply. */
export type PriceDetails = {
  cachedInput?: number;
  /** Of input that is written to the cache, where it is not the usual one (cost.ts). */
  cacheWrite?: number;
  /** Prompts of more than `above` tokens are billed whole at these prices. */
  long?: { above: number; input: number; output: number };
};

/** What a call needs to know about a model. A workspace's own model row has this shape too. */
export type ModelDescriptor = {
  publicId: string;
  name: string;
  provider: ModelProvider;
  modelId: string;
  /** Tokens of prompt and answer together. */
  contextWindow: number;
  supportsImage: boolean;
  supportsDocument: boolean;
  supportsThinking: boolean;
  supportsTemperature: boolean;
  /** Both 0 when temperature is not supported. */
  minTemperature: number;
  maxTemperature: number;
  inputCostPer1MTokens: number;
  outputCostPer1MTokens: number;
  priceDetails?: PriceDetails;
};

/** A model of the global catalogue. */
export type CatalogueModel = ModelDescriptor & {
  displayProvider: string;
  description: string;
  iconUrl: string | null;
  scope: 'global';
  /** Whether its provider is configured. */
  active: boolean;
  createdAt: Date;
  updatedAt: Date;
};

/** A price in USD per million tokens, in force from the day `from` (UTC), or always. */
export type CataloguePrice = PriceDetails & { from?: string; input: number; output: number };

/** One line of catalogue.json, which scripts/updateModels.ts writes. */
export type CatalogueEntry = {
  provider: 'openai' | 'anthropic' | 'google';
  modelId: string;
  contextWindow: number;
  image: boolean;
  document: boolean;
  thinking: boolean;
  /** The effort that comes nearest to no thinking; absent = the provider decides. */
  thinkingOff?: 'none' | 'minimal' | undefined;
  /** Lowest and highest temperature; absent = not supported. */
  temperature?: [number, number] | undefined;
  /** By start date, the current one first. */
  prices: CataloguePrice[];
  added: string;
  updated: string;
};

// Public ids of models are derived from it: a change would orphan every agent's choice.
const NAMESPACE = '5b6f1d0c-6f3e-4c58-9d0f-4c2f6a1d7b3e';

/** The public id of a global model: the same on every machine and in every release. */
export function globalModelId(provider: ModelProvider, modelId: string): string {
  return v5(`${provider}/${modelId}`, NAMESPACE);
}

/** The names of the providers, for people. */
export const PROVIDER_NAMES: Readonly<Record<ModelProvider, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible',
  builtin: 'Guildhall',
};

/** The built-in model, which needs no provider; `builtin.ts` answers for it. */
export const BUILTIN_MODEL: CatalogueModel = {
  publicId: globalModelId('builtin', 'guildhall-builtin'),
  name: 'Guildhall built-in (not an LLM)',
  provider: 'builtin',
  modelId: 'guildhall-builtin',
  displayProvider: PROVIDER_NAMES.builtin,
  description:
    'Answers without any provider or network, always the same way, so that every feature can be tried. It is no language model.',
  iconUrl: null,
  contextWindow: 32_000,
  supportsImage: true,
  supportsDocument: true,
  supportsThinking: true,
  supportsTemperature: true,
  minTemperature: 0,
  maxTemperature: 2,
  inputCostPer1MTokens: 0,
  outputCostPer1MTokens: 0,
  scope: 'global',
  active: true,
  createdAt: new Date('2026-11-21'),
  updatedAt: new Date('2026-11-21'),
};

const UNKNOWN_CONTEXT_WINDOW = 128_000;

const ENTRIES: readonly CatalogueEntry[] = (
  JSON.parse(readFileSync(new URL('./catalogue.json', import.meta.url), 'utf8')) as { models: CatalogueEntry[] }
).models;

const BY_MODEL = new Map(ENTRIES.map((entry) => [`${entry.provider}/${entry.modelId}`, entry]));
// A server that speaks OpenAI's format often offers known models under their own or a prefixed id.
const BY_MODEL_ID = new Map(ENTRIES.map((entry) => [entry.modelId, entry]));

/** Returns the catalogue's entry for a provider's model, also for one that a workspace added itself. */
export function catalogueEntry(provider: ModelProvider, modelId: string): CatalogueEntry | undefined {
  return BY_MODEL.get(`${provider}/${modelId}`);
}

/** `gpt-6.1-sol` → `GPT-6.1 Sol`, `claude-opus-5-5` → `Claude Opus 5.5`, `gpt-4o-mini` → `GPT-4o Mini`. */
function displayName(modelId: string): string {
  const words = modelId.replace(/(\d)-(\d)/g, '$1.$2').split('-');
  const named = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
  return named.replace(/^Gpt /, 'GPT-');
}

function describe(name: string, entry: CatalogueEntry): string {
  const takes = ['text', ...(entry.image ? ['images'] : []), ...(entry.document ? ['documents'] : [])];
  const last = takes.pop() ?? '';
  const list = takes.length > 0 ? `${takes.join(', ')} and ${last}` : last;
  const context = entry.contextWindow.toLocaleString('en-US');
  return `${name} by ${PROVIDER_NAMES[entry.provider]}. Takes ${list}${entry.thinking ? ', can think before it answers' : ''}; ${context} tokens of context.`;
}

function fromEntry(entry: CatalogueEntry, active: boolean, day: string): CatalogueModel {
  const name = displayName(entry.modelId);
  const price = entry.prices.findLast(({ from }) => from === undefined || from <= day) ?? entry.prices[0];
  const [minTemperature, maxTemperature] = entry.temperature ?? [0, 0];
  const details: PriceDetails = {};
  if (price?.cachedInput !== undefined) details.cachedInput = price.cachedInput;
  if (price?.cacheWrite !== undefined) details.cacheWrite = price.cacheWrite;
  if (price?.long !== undefined) details.long = price.long;
  return {
    publicId: globalModelId(entry.provider, entry.modelId),
    name,
    provider: entry.provider,
    modelId: entry.modelId,
    displayProvider: PROVIDER_NAMES[entry.provider],
    description: describe(name, entry),
    iconUrl: null,
    contextWindow: entry.contextWindow,
    supportsImage: entry.image,
    supportsDocument: entry.document,
    supportsThinking: entry.thinking,
    supportsTemperature: entry.temperature !== undefined,
    minTemperature,
    maxTemperature,
    inputCostPer1MTokens: price?.input ?? 0,
    outputCostPer1MTokens: price?.output ?? 0,
    priceDetails: details,
    scope: 'global',
    active,
    createdAt: new Date(entry.added),
    updatedAt: new Date(entry.updated),
  };
}

/** The known model that a compatible server offers under its own or a prefixed id. */
const knownAs = (modelId: string): CatalogueEntry | undefined =>
  BY_MODEL_ID.get(modelId) ?? BY_MODEL_ID.get(modelId.slice(modelId.lastIndexOf('/') + 1));

/** Where the context window of a compatible server's model is from. */
export type WindowSource = 'setting' | 'server' | 'model of this name' | 'assumed';

/** The context window of a compatible server's model, in tokens: what was set, what the server tells, or what can be guessed. */
export function compatibleWindow(settings: ModelSettings, modelId: string): { tokens: number; source: WindowSource } {
  const set = settings.openaiCompatible?.windows?.get(modelId);
  if (set !== undefined) return { tokens: set, source: 'setting' };
  const told = KnownWindows.of(settings).tokensOf(modelId);
  if (told !== undefined) return { tokens: told, source: 'server' };
  const known = knownAs(modelId);
  return known
    ? { tokens: known.contextWindow, source: 'model of this name' }
    : { tokens: UNKNOWN_CONTEXT_WINDOW, source: 'assumed' };
}

/** Describes a model of a compatible server: no price, and the abilities of the known model of that name, if any. */
function compatible(settings: ModelSettings, modelId: string): CatalogueModel {
  const known = knownAs(modelId);
  return {
    publicId: globalModelId('openai-compatible', modelId),
    name: modelId,
    provider: 'openai-compatible',
    modelId,
    displayProvider: PROVIDER_NAMES['openai-compatible'],
    description: 'Offered by the OpenAI-compatible server of this installation.',
    iconUrl: null,
    contextWindow: compatibleWindow(settings, modelId).tokens,
    supportsImage: known?.image ?? false,
    supportsDocument: known?.document ?? false,
    supportsThinking: known?.thinking ?? false,
    supportsTemperature: known === undefined || known.temperature !== undefined,
    minTemperature: 0,
    maxTemperature: known === undefined ? 2 : (known.temperature?.[1] ?? 0),
    inputCostPer1MTokens: 0,
    outputCostPer1MTokens: 0,
    scope: 'global',
    active: true,
    createdAt: BUILTIN_MODEL.createdAt,
    updatedAt: BUILTIN_MODEL.updatedAt,
  };
}

type Catalogue = {
  day: number;
  version: number;
  list: readonly CatalogueModel[];
  byId: ReadonlyMap<string, CatalogueModel>;
};

const DAY_MS = 86_400_000;

const catalogues = new WeakMap<ModelSettings, Catalogue>();

function catalogue(settings: ModelSettings, now: Date): Catalogue {
  // Announced prices take effect at midnight UTC, so a list is cached for one day, unless the server tells other windows.
  const day = Math.floor(now.getTime() / DAY_MS);
  const made = catalogues.get(settings);
  const { version } = KnownWindows.of(settings);
  if (made?.day === day && made.version === version) return made;
  const date = now.toISOString().slice(0, 10);
  const list = [
    BUILTIN_MODEL,
    ...(settings.openaiCompatible?.models ?? []).map((modelId) => compatible(settings, modelId)),
    ...ENTRIES.map((entry) => fromEntry(entry, settings[entry.provider] !== undefined, date)),
  ];
  const fresh = { day, version, list, byId: new Map(list.map((model) => [model.publicId, model])) };
  catalogues.set(settings, fresh);
  return fresh;
}

/** Lists every model of this installation: the built-in one, then those of its own server, then the providers' by name. */
export function listGlobalModels(settings: ModelSettings, now = new Date()): readonly CatalogueModel[] {
  return catalogue(settings, now).list;
}

/** The global model with this public id (lower case), active or not. */
export function findGlobalModel(
  settings: ModelSettings,
  publicId: string,
  now = new Date(),
): CatalogueModel | undefined {
  return catalogue(settings, now).byId.get(publicId);
}

import type { AiModelRow } from '../../db/queries/agents/aiModels.ts';
import { catalogueEntry, type ModelDescriptor, type ModelProvider } from './catalogue.ts';

/** The columns of a workspace's own model that a call needs. */
export type CustomModelRow = Pick<
  AiModelRow,
  | 'id'
  | 'name'
  | 'provider'
  | 'model_id'
  | 'context_window'
  | 'supports_image'
  | 'supports_document'
  | 'supports_thinking'
  | 'supports_temperature'
  | 'min_temperature'
  | 'max_temperature'
  | 'input_cost_per_1m_tokens'
  | 'output_cost_per_1m_tokens'
>;

/** A model that a workspace added, as calls know it. */
export function customModel(row: CustomModelRow): ModelDescriptor {
  return {
    publicId: row.id,
    name: row.name,
    provider: row.provider as ModelProvider,
    modelId: row.model_id,
    contextWindow: row.context_window,
    supportsImage: row.supports_image,
    supportsDocument: row.supports_document,
    supportsThinking: row.supports_thinking,
    supportsTemperature: row.supports_temperature,
    minTemperature: row.min_temperature ?? 0,
    maxTemperature: row.max_temperature ?? 0,
    inputCostPer1MTokens: row.input_cost_per_1m_tokens,
    outputCostPer1MTokens: row.output_cost_per_1m_tokens,
    ...cachedPriceOf(row),
  };
}

/** Of a model that the catalogue knows, cached input costs the same part of the row's price as it does in the catalogue. */
function cachedPriceOf({
  provider,
  model_id: modelId,
  input_cost_per_1m_tokens: input,
}: CustomModelRow): Pick<ModelDescriptor, 'priceDetails'> {
  const price = catalogueEntry(provider as ModelProvider, modelId)?.prices.at(-1);
  if (price?.cachedInput === undefined || price.input === 0) return {};
  return { priceDetails: { cachedInput: (price.cachedInput / price.input) * input } };
}

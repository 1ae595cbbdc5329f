import type { AiModelRow } from '../../db/queries/agents/aiModels.ts';
import type { ModelDescriptor, ModelProvider } from './catalogue.ts';

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
  };
}

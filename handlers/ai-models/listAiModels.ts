import type { components } from '../../generated/api.ts';
import type { ListedModel } from '../../runtime/runtime.ts';
import { capabilitiesOf } from '../agent-model/modelBody.ts';
import type { Handler } from '../handler.ts';

type AiModel = components['schemas']['AiModel'];

// Made with the first call: it takes 7 ms, which the start can do without.
let collator: Intl.Collator | undefined;

function modelBody(model: ListedModel): AiModel {
  // What the operator's own server charges is not known; the catalogue counts it as nothing.
  const isPriced = model.provider !== 'openai-compatible' || model.scope === 'workspace';
  return {
    publicId: model.publicId,
    name: model.name,
    description: model.description || null,
    scope: model.scope,
    active: model.active,
    provider: model.provider,
    displayProvider: model.displayProvider,
    modelId: model.modelId,
    iconUrl: model.iconUrl,
    ...capabilitiesOf(model),
    inputCostPer1MTokens: isPriced ? model.inputCostPer1MTokens : null,
    outputCostPer1MTokens: isPriced ? model.outputCostPer1MTokens : null,
    createdAt: model.createdAt.toISOString(),
    updatedAt: model.updatedAt.toISOString(),
  };
}

export const listAiModels: Handler<'listAiModels'> = async ({ query, db, workspaceId, runtime, reply }) => {
  const { activeOnly = true, provider, supportsImage, supportsDocument, scope } = query;
  const models = await runtime.listModels(db, workspaceId);
  const matching = models.filter(
    (model) =>
      (model.active || !activeOnly) &&
      (provider === undefined || model.provider === provider) &&
      (supportsImage === undefined || model.supportsImage === supportsImage) &&
      (supportsDocument === undefined || model.supportsDocument === supportsDocument) &&
      (scope === undefined || model.scope === scope),
  );
  collator ??= new Intl.Collator('en');
  const { compare } = collator;
  matching.sort((a, b) => compare(a.displayProvider, b.displayProvider) || compare(a.name, b.name));
  return reply(200, matching.map(modelBody));
};

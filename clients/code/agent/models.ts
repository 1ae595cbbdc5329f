import type { Api } from '../api.ts';
import type { Listed } from '../kind.ts';

/**
 * The models by the names that files use: `provider/modelId`. Where the workspace has a model of its own that the catalogue has too, that of
 * the catalogue is `provider/modelId (global)`.
 */
export async function listModels(api: Api): Promise<Listed[]> {
  const models = await api.call('listAiModels', { query: { activeOnly: false } });
  const own = models.filter(({ scope }) => scope === 'workspace');
  const named = new Set(own.map(({ provider, modelId }) => `${provider}/${modelId}`));
  return models.map(({ publicId, provider, modelId, scope }) => {
    const name = `${provider}/${modelId}`;
    return { id: publicId, name: scope === 'global' && named.has(name) ? `${name} (global)` : name };
  });
}

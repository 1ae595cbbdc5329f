import { newId } from '../../core/ids.ts';
import { insertCustomModel, selectCustomModels, softDeleteCustomModel } from '../../db/queries/agents/aiModels.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import { compatibleWindow, globalModelId, PROVIDER_NAMES, type WindowSource } from '../../runtime/models/catalogue.ts';
import { readServerWindows } from '../../runtime/models/serverWindows.ts';
import { type ModelSettings, modelSettingsFromEnv } from '../../runtime/models/settings.ts';
import {
  type Command,
  CommandError,
  INT32_MAX,
  number,
  requiredNumber,
  table,
  text,
  UsageError,
  uuid,
} from './command.ts';
import { fromEnv } from './fromEnv.ts';

const COST = { min: 0, max: 1_000_000 };
const TEMPERATURE = { min: 0, max: 2 };

const SOURCES: Record<WindowSource, string> = {
  setting: 'OPENAI_COMPATIBLE_MODELS',
  server: 'its server',
  'model of this name': 'the known model of this name',
  assumed: 'nowhere: assumed',
};

/** What to set, where no compatible model is offered. */
function noModels({ openaiCompatible }: ModelSettings): string {
  const named = 'OPENAI_COMPATIBLE_MODELS to the ids of its models, such as qwen3@24576,llama3.3';
  return openaiCompatible === undefined
    ? `none: set OPENAI_COMPATIBLE_BASE_URL to the address of the server, and ${named}, as the service has them.`
    : `none: set ${named}, as the service has it.`;
}

/** Custom models of a workspace. The API lists them with `scope: workspace`, together with the global catalogue. */
export const modelCommands: Record<string, Command> = {
  add: {
    usage:
      '--workspace ID --name N --provider P --model-id M --context-window N --input-cost USD --output-cost USD\n' +
      '      [--display-provider P] [--description D] [--icon-url URL] [--supports-image] [--supports-document] [--supports-thinking]\n' +
      '      [--no-temperature | --min-temperature X --max-temperature Y]   (costs per million tokens)',
    words: 0,
    options: {
      workspace: { type: 'string' },
      name: { type: 'string' },
      provider: { type: 'string' },
      'display-provider': { type: 'string' },
      'model-id': { type: 'string' },
      description: { type: 'string' },
      'icon-url': { type: 'string' },
      'context-window': { type: 'string' },
      'input-cost': { type: 'string' },
      'output-cost': { type: 'string' },
      'supports-image': { type: 'boolean', default: false },
      'supports-document': { type: 'boolean', default: false },
      'supports-thinking': { type: 'boolean', default: false },
      'no-temperature': { type: 'boolean', default: false },
      'min-temperature': { type: 'string' },
      'max-temperature': { type: 'string' },
    },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const provider = text(options.provider, '--provider', 100);
      if (!Object.hasOwn(PROVIDER_NAMES, provider))
        throw new UsageError(`--provider must be one of ${Object.keys(PROVIDER_NAMES).join(', ')}`);
      const temperature = options['no-temperature'] !== true;
      const minimum = number(options['min-temperature'], '--min-temperature', TEMPERATURE);
      const maximum = number(options['max-temperature'], '--max-temperature', TEMPERATURE);
      if (!temperature && (minimum ?? maximum) !== undefined)
        throw new UsageError('--no-temperature cannot be combined with --min-temperature or --max-temperature');
      if ((minimum ?? TEMPERATURE.min) > (maximum ?? TEMPERATURE.max))
        throw new UsageError('--min-temperature must not be greater than --max-temperature');
      const row = {
        workspace_id: workspaceId,
        id: newId(),
        name: text(options.name, '--name', 200),
        provider,
        display_provider: text(options['display-provider'], '--display-provider', 200, provider),
        model_id: text(options['model-id'], '--model-id', 200),
        description: options.description === undefined ? null : text(options.description, '--description', 2000),
        icon_url: options['icon-url'] === undefined ? null : text(options['icon-url'], '--icon-url', 1024),
        context_window: requiredNumber(options['context-window'], '--context-window', {
          min: 1,
          max: INT32_MAX,
          integer: true,
        }),
        input_cost_per_1m_tokens: requiredNumber(options['input-cost'], '--input-cost', COST),
        output_cost_per_1m_tokens: requiredNumber(options['output-cost'], '--output-cost', COST),
        supports_image: options['supports-image'] === true,
        supports_document: options['supports-document'] === true,
        supports_thinking: options['supports-thinking'] === true,
        supports_temperature: temperature,
        min_temperature: temperature ? (minimum ?? TEMPERATURE.min) : null,
        max_temperature: temperature ? (maximum ?? TEMPERATURE.max) : null,
      };
      return async (database) => {
        if (!(await findWorkspace(database.system, workspaceId)))
          throw new CommandError(`There is no workspace ${workspaceId}`);
        try {
          await insertCustomModel(database.forWorkspace(workspaceId), row);
        } catch (error) {
          if ((error as { constraint?: string }).constraint !== 'ai_models_model_key') throw error;
          throw new CommandError(`The workspace already has the model ${row.model_id} of ${provider}`);
        }
        return {
          json: {
            aiModelPublicId: row.id,
            workspacePublicId: workspaceId,
            provider,
            modelId: row.model_id,
            name: row.name,
          },
          text: `model ${row.id} (${provider} ${row.model_id}) is added`,
        };
      };
    },
  },
  list: {
    usage: '--workspace ID',
    words: 0,
    options: { workspace: { type: 'string' } },
    prepare(_words, options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      return async (database) => {
        const rows = await selectCustomModels(database.forWorkspace(workspaceId), workspaceId);
        return {
          json: rows.map((row) => ({
            aiModelPublicId: row.id,
            name: row.name,
            provider: row.provider,
            modelId: row.model_id,
            contextWindow: row.context_window,
            inputCostPer1MTokens: row.input_cost_per_1m_tokens,
            outputCostPer1MTokens: row.output_cost_per_1m_tokens,
            active: row.active,
          })),
          text: table(
            ['MODEL', 'PROVIDER', 'MODEL ID', 'NAME', 'WINDOW'],
            rows.map((row) => [row.id, row.provider, row.model_id, row.name, String(row.context_window)]),
          ),
        };
      };
    },
  },
  windows: {
    usage: '  (of the models of OPENAI_COMPATIBLE_MODELS: asks their server, and says where each window is from)',
    words: 0,
    options: {},
    prepare() {
      return async (_database, env) => {
        const settings = fromEnv(env, modelSettingsFromEnv);
        await readServerWindows(settings);
        const models = (settings.openaiCompatible?.models ?? []).map((modelId) => {
          const { tokens, source } = compatibleWindow(settings, modelId);
          return {
            aiModelPublicId: globalModelId('openai-compatible', modelId),
            modelId,
            contextWindow: tokens,
            source,
          };
        });
        if (models.length === 0) return { json: models, text: noModels(settings) };
        return {
          json: models,
          text: table(
            ['MODEL', 'MODEL ID', 'WINDOW', 'FROM'],
            models.map(({ aiModelPublicId, modelId, contextWindow, source }) => [
              aiModelPublicId,
              modelId,
              String(contextWindow),
              SOURCES[source],
            ]),
          ),
        };
      };
    },
  },
  remove: {
    usage: '--workspace ID MODELID',
    words: 1,
    options: { workspace: { type: 'string' } },
    prepare([word], options) {
      const workspaceId = uuid(options.workspace, '--workspace');
      const id = uuid(word, 'MODELID');
      return async (database) => {
        const removed = await softDeleteCustomModel(database.forWorkspace(workspaceId), workspaceId, id, new Date());
        if (!removed) throw new CommandError(`Workspace ${workspaceId} has no model ${id}`);
        return { json: { aiModelPublicId: id, removed: true }, text: `model ${id} is removed` };
      };
    },
  },
};

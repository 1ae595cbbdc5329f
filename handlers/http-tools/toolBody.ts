import type { ListedTool } from '../../db/queries/tools/httpTools.ts';
import type { components } from '../../generated/api.ts';

type HttpTool = components['schemas']['HttpTool'];

/** The tool as the contract shows it; its secrets are not in the stored configuration. */
export function toolBody(row: ListedTool): HttpTool {
  return {
    publicId: row.id,
    name: row.name,
    description: row.description,
    toolType: row.tool_type,
    requiresApproval: row.requires_approval,
    configuration: row.configuration,
    // Tools are made with an API key only, so there is no user to name.
    createdBy: { publicId: null, name: 'API Key' },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

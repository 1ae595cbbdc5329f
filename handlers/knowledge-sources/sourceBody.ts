import type { KnowledgeSourceRow } from '../../db/queries/knowledge/knowledgeSources.ts';
import type { components } from '../../generated/api.ts';

/** A knowledge source as the contract shows it. */
export function sourceBody(row: KnowledgeSourceRow): components['schemas']['KnowledgeSource'] {
  return {
    publicId: row.id,
    name: row.name,
    description: row.description,
    sourceType: row.source_type,
    processingStatus: row.processing_status,
    errorMessage: row.error_message,
    lastProcessedAt: row.last_processed_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

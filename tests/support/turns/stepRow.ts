import { newId } from '../../../core/ids.ts';
import type { StepRow } from '../../../db/queries/turns/turnSteps.ts';

/** A step as it is stored: a call of a model that used nothing, with the fields that a test names in place of its own. */
export const stepRow = (fields: Partial<StepRow> = {}): StepRow => ({
  seq: 0,
  agent_id: newId(),
  depth: 0,
  kind: 'model',
  name: 'local-model',
  provider: null,
  status: 'done',
  input: null,
  output: null,
  duration_ms: 1,
  input_tokens: null,
  output_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
  finish_reason: null,
  cost_usd: null,
  started_at: new Date(),
  request: null,
  parent_seq: null,
  state: null,
  ...fields,
});
